import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { afterEach, beforeEach, suite, test } from 'node:test'
import { sql } from 'kysely'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { createManualClock, type ManualClock } from '../../../test/harness/manual-clock.ts'
import { ApiError, type ApiErrorReason } from '../../core/error.ts'
import { zeroUsage } from '../../core/generation.ts'
import { callerFaults } from '../../core/refusal.ts'
import type { Database } from '../../db/database.ts'
import { isPostgres } from '../../db/is-postgres.ts'
import { localKey, parseNote, publicKeyOf } from '../../lib/signed-note.ts'
import { createLog } from '../../telemetry/log.ts'
import type { LedgerEntry } from '../ledger/ledger-entry.ts'
import { createLedger } from '../ledger/ledger.ts'
import { createDirectLedgerWriter } from '../ledger/writer/insert-rows.ts'
import { createRefusals } from '../refusals/refusals.ts'
import { rollUp } from '../usage/roll-up.ts'
import { closeMonths } from './close-months.ts'
import { announceMaintenance } from './exclusions.ts'
import { createLifeSigns, type LifeSigns } from './life-signs.ts'
import { measuredBy, setObjective, usualCredits } from './objectives.ts'
import { computeSla } from './report.ts'
import { verifyReport } from './verify-report.ts'
import { watchModels } from './watch-models.ts'

const operator = { kind: 'operator' } as const
const minute = 60_000
const hour = 60 * minute
const start = Date.UTC(2027, 2, 1)
const organizationId = 'org_1'
const question = { organizationId, month: '2027-03', currency: 'USD' } as const
const models = ['clarke-1.0', 'hal-1.0', 'tycho-1.0']
const log = createLog('silent')

onEachDatabase(({ name, open }) => {
  let db: Database
  let clock: ManualClock
  let requests: number
  beforeEach(async () => {
    db = await open()
    clock = createManualClock(start)
    requests = 0
    await db
      .insertInto('organizations')
      .values({ id: organizationId, name: 'One', created_at: 0, disabled_at: null })
      .execute()
  })
  afterEach(() => db.destroy())

  const begin = (bootId: string, answers: (model: string) => string = () => 'answered') => {
    const state = { isStopping: false }
    const isStopping = () => state.isStopping
    const signs = createLifeSigns({ db, clock, log, bootId, isStopping })
    signs.begin()
    const ask = (model: string) => Promise.resolve(answers(model))
    const stopWatching = watchModels(signs, { clock, models, ask, isStopping })
    return { signs, state, stopWatching }
  }
  /** Ten seconds after the other, with time for what they begin. */
  const pass = async (ms: number) => {
    await new Promise((resolve) => setImmediate(resolve))
    for (let passed = 0; passed < ms; passed += 10_000) {
      clock.advance(Math.min(10_000, ms - passed))
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const end = async ({ signs, stopWatching }: { signs: LifeSigns; stopWatching: () => Promise<void> }) => {
    await stopWatching()
    await signs.close()
  }
  const record = async (changes: Partial<LedgerEntry>) => {
    requests += 1
    const entry: LedgerEntry = {
      requestId: `req_${requests}`,
      principal: { kind: 'api-key', apiKeyId: 'key_1', organizationId, projectId: 'proj_1' },
      atMs: clock.nowMs(),
      admittedAtMs: clock.nowMs(),
      model: 'hal-1.0',
      outcome: 'finished',
      reason: 'end',
      usage: { ...zeroUsage, output: 10 },
      charge: null,
      cache: null,
      firstEventMs: 1,
      firstTokenMs: 10,
      durationMs: 100,
      ...changes,
    }
    await createLedger(createDirectLedgerWriter(db)).append(entry)
  }
  const compute = async (model = 'hal-1.0') => {
    const numbers = await computeSla(db, question, clock.nowMs())
    const found = numbers.models.find((one) => one.model === model)
    ok(found !== undefined)
    return found
  }

  suite(`requests, on ${name}`, () => {
    beforeEach(async () => {
      const gateway = begin('boot_1')
      await pass(2 * minute)
      await end(gateway)
    })

    test('each counts for or against the service by whose fault its end is', async () => {
      await record({})
      await record({ outcome: 'aborted', reason: 'client-left' })
      await record({ outcome: 'aborted', reason: 'key-ended' })
      await record({ outcome: 'failed', reason: 'engine-failed' })
      await record({ outcome: 'failed', reason: 'internal' })
      await record({ outcome: 'failed', reason: 'service-stopping' })
      await record({ outcome: 'failed', reason: null })
      await record({ outcome: 'failed', reason: 'context-exceeded' })
      await record({ outcome: 'failed', reason: 'invalid-request' })
      clock.advance(minute)
      deepEqual((await compute()).requests, { valid: 7, bad: 4, slow: 0, unserved: 0 })
    })

    test('a first token counts against the service from when on it was agreed, also where it was waited for in vain', async () => {
      const late = { firstTokenMs: 2_001, durationMs: 9_000 }
      await record(late)
      clock.advance(1)
      const promised = { ...measuredBy, firstTokenMs: 2_000, effectiveAtMs: null }
      await setObjective({ db, clock }, operator, { ...promised, organizationId: null })
      clock.advance(1)
      await record(late)
      await record({ firstTokenMs: 2_000, durationMs: 9_000 })
      await record({ outcome: 'aborted', reason: 'client-left', firstTokenMs: null, durationMs: 2_001 })
      await record({ outcome: 'aborted', reason: 'client-left', firstTokenMs: null, durationMs: 1_999 })
      clock.advance(1)
      await setObjective({ db, clock }, operator, { ...promised, organizationId, firstTokenMs: null })
      clock.advance(1)
      await record(late)
      clock.advance(minute)
      deepEqual((await compute()).requests, { valid: 6, bad: 2, slow: 2, unserved: 0 })
    })

    test('rolled up piece by piece the minutes are those of all rows at once', async () => {
      await record({})
      await rollUp(db)
      await record({ outcome: 'failed', reason: 'engine-failed' })
      clock.advance(1_000)
      await rollUp(db)
      await record({ outcome: 'failed', reason: 'engine-failed' })
      await record({})
      await rollUp(db)
      await rollUp(db)
      const bad = await db.selectFrom('availability_minutes').select(['first_bad_at', 'last_bad_at']).execute()
      const from = start + 2 * minute
      deepEqual(
        bad.map((row) => [row.first_bad_at, row.last_bad_at]),
        [[from, from + 1_000]],
      )
      clock.advance(minute)
      deepEqual((await compute()).requests, { valid: 4, bad: 2, slow: 0, unserved: 0 })
    })

    test('what was turned away counts against the service where that was its fault, by model, and never by a caller’s', async () => {
      const refusals = createRefusals({ db, clock, log, metrics: { turnedAway: () => {}, judged: () => {} } })
      const overloaded = new ApiError({ code: 'overloaded', retryAfterMs: 1 }, '')
      refusals.count(organizationId, overloaded, 'hal-1.0')
      refusals.count(organizationId, new Error('a bug'), 'hal-1.0')
      refusals.count(organizationId, overloaded, null)
      refusals.count(organizationId, overloaded)
      refusals.count(null, overloaded, 'hal-1.0')
      for (let count = 0; count < 1_000; count += 1) {
        refusals.count(organizationId, new ApiError({ code: 'rate-limited', retryAfterMs: 1 }, ''), 'hal-1.0')
      }
      await refusals.close()
      clock.advance(minute)
      deepEqual((await compute()).requests, { valid: 2, bad: 2, slow: 0, unserved: 2 })
      equal((await computeSla(db, question, clock.nowMs())).unread, 1)
    })

    test('a million requests that their callers get wrong move no number of availability', async () => {
      await record({})
      await record({ outcome: 'failed', reason: 'engine-failed' })
      clock.advance(minute)
      const before = await computeSla(db, question, clock.nowMs())
      let judged = 0
      const refusals = createRefusals({
        db,
        clock,
        log,
        metrics: { turnedAway: () => {}, judged: () => (judged += 1) },
      })
      const errors = callerFaults.map((code) => new ApiError({ code } as ApiErrorReason, ''))
      const perMinute = 250_000
      clock.advance(-minute)
      for (let count = 0; count < 1_000_000; count += 1) {
        const error = errors[count % errors.length]
        if (count % 1_000 === 0) await record({ outcome: 'failed', reason: error?.code ?? null })
        refusals.count(count % 3 === 0 ? null : organizationId, error, count % 2 === 0 ? 'hal-1.0' : null)
        if (count % perMinute === perMinute - 1) await refusals.flush()
      }
      await refusals.close()
      clock.advance(minute)
      deepEqual(await computeSla(db, question, clock.nowMs()), before)
      equal(judged, 0)
      const { counted } = await db
        .selectFrom('refusals')
        .select(sql<number>`cast(sum(requests) as bigint)`.as('counted'))
        .executeTakeFirstOrThrow()
      equal(counted, 1_000_000)
    })
  })

  suite(`down time, on ${name}`, () => {
    test('gateways that are all gone for 61 seconds are two minutes down, for every model', async () => {
      await end(begin('boot_0'))
      const killed = begin('boot_1')
      await pass(5 * minute)
      await end(killed)
      clock.advance(61_000)
      const next = begin('boot_2')
      await pass(5 * minute)
      await end(next)
      for (const model of models) {
        const { minutes, down } = await compute(model)
        equal(minutes.down, 2)
        deepEqual(
          down.map(({ fromMs, untilMs, causes }) => [fromMs - start, untilMs - start, causes.includes('gateway')]),
          [[5 * minute, 5 * minute + 61_000, true]],
        )
      }
    })

    test('gateways that are restarted in turn are not down, also where one lets nobody in and still answers', async () => {
      const [first, second] = [begin('boot_1'), begin('boot_2')]
      await pass(2 * minute)
      first.state.isStopping = true
      await pass(2 * minute)
      await end(first)
      const third = begin('boot_3')
      await pass(minute)
      second.state.isStopping = true
      await pass(2 * minute)
      await end(second)
      await pass(minute)
      await end(third)
      equal((await compute()).minutes.down, 0)
    })

    test('a model that answers nobody is down with the error that it answers with, and the others are not', async () => {
      const fault = { isThere: false }
      const gateway = begin('boot_1', (model) => (fault.isThere && model === 'hal-1.0' ? 'engine-failed' : 'answered'))
      await pass(5 * minute)
      fault.isThere = true
      await pass(3 * minute)
      fault.isThere = false
      await pass(5 * minute)
      await end(gateway)
      const { down, minutes } = await compute()
      deepEqual(
        down.map(({ causes }) => causes),
        [['model:engine-failed']],
      )
      ok(minutes.down >= 3 && minutes.down <= 5)
      equal((await compute('tycho-1.0')).minutes.down, 0)
    })

    test('a single question of ours that fails says nothing where others were answered', async () => {
      const fault = { isThere: false }
      const gateway = begin('boot_1', () => (fault.isThere ? 'overloaded' : 'answered'))
      await pass(4 * minute)
      fault.isThere = true
      for (let count = 0; count < 3; count += 1) {
        await record({})
        await pass(minute)
      }
      fault.isThere = false
      await pass(4 * minute)
      await end(gateway)
      const { minutes } = await compute()
      equal((await compute('tycho-1.0')).minutes.down > minutes.down, true)
    })

    test('maintenance that was announced in time does not count, and other maintenance is refused', async () => {
      const rules = { noticeHoursMin: 72, hoursPerMonthMax: 2 }
      const parts = { db, clock, rules }
      const fromMs = start + 73 * hour
      const wanted = { fromMs, untilMs: fromMs + hour, reason: 'new disks' }
      const refused = { name: 'ApiError' }
      await rejects(announceMaintenance(parts, operator, { ...wanted, fromMs: start + 71 * hour }), refused)
      await announceMaintenance(parts, operator, wanted)
      await rejects(announceMaintenance(parts, operator, wanted), refused)
      const long = { fromMs: fromMs + 2 * hour, untilMs: fromMs + 4 * hour, reason: 'too much' }
      await rejects(announceMaintenance(parts, operator, long), refused)
      clock.advance(fromMs - start - minute)
      const before = begin('boot_1')
      await pass(minute)
      await end(before)
      clock.advance(hour)
      const after = begin('boot_2')
      await pass(2 * minute)
      await end(after)
      deepEqual((await compute()).minutes, { counted: 3, down: 0, excluded: 60 })
    })
  })

  suite(`reports, on ${name}`, () => {
    const key = generateKeyPairSync('ed25519').privateKey
    const keys = [publicKeyOf(key)]
    const signing = { keys: [localKey(key)], name: 'log.example' }
    const close = () => closeMonths({ db, clock, currency: 'USD' }, signing)
    const stored = () => db.selectFrom('sla_reports').selectAll().execute()

    beforeEach(async () => {
      const promised = { ...measuredBy, credits: usualCredits, organizationId: null, effectiveAtMs: null }
      await setObjective({ db, clock }, operator, promised)
      const gateway = begin('boot_1')
      await pass(minute)
      const charge = { priceId: 'price_1', costPicos: 1_234_567_000_000n } as const
      for (let count = 0; count < 5; count += 1) await record({ charge })
      await end(gateway)
      clock.advance(31 * 24 * hour + 7 * hour)
    })

    test('a month is closed once, however often that is tried, and what is owed is given back once', async () => {
      await Promise.all([close(), close()])
      await close()
      const [report, ...others] = await stored()
      deepEqual([report?.month, report?.version, others.length], ['2027-03', 1, 0])
      const credits = await db.selectFrom('credits').selectAll().execute()
      // Nobody was there for the rest of the month, so all of it is given back.
      deepEqual(
        credits.map(({ model, micros, percent }) => [model, micros, percent]),
        [['hal-1.0', 6_172_835, 100]],
      )
    })

    test('a sign of a clock that stood before what is kept neither stops reports nor makes any of that time', async () => {
      const span = { number: 0, subject: '', ended_by: null }
      for (const from_at of [12_000, Date.UTC(2025, 5, 1)]) {
        const row = { ...span, boot_id: `boot_${from_at}`, from_at, until_at: from_at + minute }
        await db.insertInto('life_spans').values(row).execute()
      }
      deepEqual(await close(), ['2027-03'])
      deepEqual(
        (await stored()).map(({ month }) => month),
        ['2027-03'],
      )
    })

    test('a month is not closed before all rows can have come', async () => {
      const early = createManualClock(Date.UTC(2027, 3, 1, 5, 59))
      await closeMonths({ db, clock: early, currency: 'USD' }, signing)
      deepEqual(await stored(), [])
    })

    test('a report follows from the ledger to the byte, as long as nothing in it is changed', async () => {
      await close()
      const [report] = await stored()
      const note = report?.note ?? ''
      deepEqual(await verifyReport(db, note, keys), { ...idOf(question), isSigned: true, faults: [] })
      await tamper(db, "update ledger set duration_ms = 5 where request_id = 'req_3'")
      const { faults } = await verifyReport(db, note, keys)
      ok(
        faults.some((fault) => /row \d+ \(req_3, charge\) is not the one/.test(fault)),
        faults.join('\n'),
      )
      equal(faults.filter((fault) => fault.startsWith('row ')).length, 1)
    })

    test('a report whose numbers were changed is neither signed nor right', async () => {
      await close()
      const [report] = await stored()
      const forged = (report?.note ?? '').replace('"percent": 100', '"percent": 10')
      const { isSigned, faults } = await verifyReport(db, forged, keys)
      equal(isSigned, false)
      equal(faults.length, 1)
      const other = publicKeyOf(generateKeyPairSync('ed25519').privateKey)
      equal((await verifyReport(db, report?.note ?? '', [other])).isSigned, false)
    })

    test('a report is a signed note whose first line says whose it is', async () => {
      await close()
      const [report] = await stored()
      const note = parseNote(report?.note ?? '')
      equal(note?.text.split('\n')[0], 'log.example/sla/org_1')
      equal(note?.signatures[0]?.name, 'log.example/sla/org_1')
    })
  })
})

function idOf({ organizationId: id, month }: { readonly organizationId: 'org_1'; readonly month: string }) {
  return { organizationId: id, month }
}

/** As somebody does who has the database, past what the ledger guards itself by. */
async function tamper(db: Database, statement: string): Promise<void> {
  const guard = isPostgres(db) ? 'alter table ledger disable trigger all' : 'drop trigger ledger_refuses_update'
  await sql.raw(guard).execute(db)
  await sql.raw(statement).execute(db)
}
