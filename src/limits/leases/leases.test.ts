// Gateways that share one PostgreSQL, as many limiters in this process: each has connections,
// leases and timers of its own.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { budgetOf, createTestLimiter, limitOf, principal } from '../../../test/harness/limiter.ts'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import { createPostgresDatabase } from '../../../test/harness/shared-postgres.ts'
import { until } from '../../../test/harness/start-service.ts'
import { ApiError } from '../../core/error.ts'
import { zeroUsage } from '../../core/generation.ts'
import type { Database } from '../../db/database.ts'
import { connectPostgres } from '../../db/open-postgres.ts'
import { systemClock, type Clock } from '../../lib/clock.ts'
import type { Limiter } from '../limiter.ts'
import type { Budget } from '../settings/budget-settings.ts'
import type { Limit } from '../settings/limit-settings.ts'
import { leaseMs } from './exchange-lease.ts'
import { createSharedAllowances } from './shared-allowances.ts'

let url: string
let drop: () => Promise<void>
before(async () => {
  ;({ url, drop } = await createPostgresDatabase('schema'))
})
after(() => drop())

type Gateway = {
  readonly limiter: Limiter
  readonly db: Database
  /** What the ledger would hold of it. */
  readonly ledger: { spent: number }
  /** Gives its leases back and goes. */
  leave(): Promise<void>
}

type Settings = { readonly limits?: readonly Limit[]; readonly budgets?: readonly Budget[] }

function openGateways(
  count: number,
  settings: Settings,
  clock: Clock = systemClock,
  wrap: (db: Database) => Database = (db) => db,
): Gateway[] {
  const ledger = { spent: 0 }
  const now = clock === systemClock ? {} : { now: () => sql<number>`${sql.lit(clock.nowMs())}::bigint` }
  return Array.from({ length: count }, () => {
    const db = connectPostgres(url)
    const shared = createSharedAllowances({ db: wrap(db), clock, onError() {}, ...now })
    const readSpent = () => Promise.resolve({ micros: ledger.spent, tokens: 0 })
    const { limiter, book } = createTestLimiter({ clock, ...settings, parts: { ...shared, readSpent } })
    const leave = async () => {
      await book.close()
      await db.destroy()
    }
    return { limiter, db, ledger, leave }
  })
}

const wish = (inputTokens: number, outputTokensMax = 0) => ({
  inputTokens,
  outputTokensMax,
  isOutputChosen: true,
  worstCaseMicros: (outputTokens: number) => inputTokens + 5 * outputTokens,
})

/** Asks and settles. Returns how many tokens were admitted; a refusal is none. */
async function ask({ limiter, ledger }: Gateway, input: number, { output = 0, share = 1 } = {}): Promise<number> {
  const admission = await limiter.admit({ principal, model: 'clarke-1.0' })
  let usage = zeroUsage
  try {
    const granted = await admission.reserve(wish(input, output))
    await sleep(1)
    usage = { ...zeroUsage, inputUncached: input, output: Math.floor(granted * share) }
    return input
  } catch (error) {
    if (error instanceof ApiError && error.code === 'rate-limited') return 0
    throw error
  } finally {
    const costMicros = usage.inputUncached + 5 * usage.output
    ledger.spent += costMicros
    admission.settle({ usage, costMicros, atMs: systemClock.nowMs() })
  }
}

test('three gateways admit together what the limit says: never more, and no less than 95 % of it', async (context) => {
  const perMinute = 20_000
  const gateways = openGateways(3, { limits: [limitOf({ id: 'limit_bucket', inputTokensPerMinute: perMinute })] })
  const startedMs = performance.now()
  let [served, refused] = [0, 0]
  // A slow machine takes its time to use the limit up; only then it shows what of it can be used.
  const hammer = async (gateway: Gateway, amount: number) => {
    while (refused < 300 && performance.now() - startedMs < 90_000) {
      const admitted = await ask(gateway, amount)
      served += admitted
      if (admitted > 0) continue
      refused += 1
      await sleep(20)
    }
  }
  await Promise.all(
    gateways.flatMap((gateway, index) => Array.from({ length: 8 }, () => hammer(gateway, 20 + 25 * index))),
  )
  const elapsedMs = performance.now() - startedMs
  const allowed = perMinute + Math.ceil((elapsedMs * perMinute) / 60_000)
  context.diagnostic(`${served} of ${allowed} tokens`)
  assert.ok(served <= allowed, `${served} of ${allowed}`)
  assert.ok(served >= allowed * 0.95, `${served} of ${allowed}`)
  for (const gateway of gateways) await gateway.leave()
})

test('three gateways spend together what the budget allows: never more, and no less than 95 % of it', async (context) => {
  const gateways = openGateways(3, { budgets: [budgetOf({ id: 'budget_all', microsMax: 100_000 })] })
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      ask(gateways[index % 3]!, 50, { output: 250 }).then(
        () => 'served',
        (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
      ),
    ),
  )
  const { spent } = gateways[0]!.ledger
  context.diagnostic(`${spent} of 100000 micro-units`)
  assert.ok(spent <= 100_000 && spent >= 95_000, `${spent}`)
  assert.deepEqual([...new Set(outcomes)].toSorted(), ['budget-exceeded', 'served'])
  for (const gateway of gateways) await gateway.leave()
  const { level } = await counter('budget_all')
  assert.equal(level, spent)
})

test('with half of the budget free, 200 calls at three gateways are all served', async () => {
  const gateways = openGateways(3, { budgets: [budgetOf({ id: 'budget_half', microsMax: 100_000 })] })
  const calls = Array.from({ length: 200 }, (_, index) => ask(gateways[index % 3]!, 50, { output: 390, share: 0.1 }))
  await Promise.all(calls)
  const { spent } = gateways[0]!.ledger
  assert.equal(spent, 200 * (50 + 5 * 39))
  for (const gateway of gateways) await gateway.leave()
  const { level } = await counter('budget_half')
  assert.equal(level, spent)
})

test('requests under way are counted over all gateways', async () => {
  const gateways = openGateways(2, { limits: [limitOf({ id: 'limit_places', concurrency: 3 })] })
  const admissions = await Promise.allSettled(
    Array.from({ length: 10 }, (_, index) => gateways[index % 2]!.limiter.admit({ principal, model: 'hal-1.0' })),
  )
  const admitted = admissions.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  assert.equal(admitted.length, 3)
  for (const admission of admitted) admission.settle({ usage: zeroUsage, costMicros: 0, atMs: 0 })
  for (const gateway of gateways) await gateway.leave()
  assert.deepEqual(await leases('limit_places'), [])
})

test('the lease of a gateway that vanished goes back, less what the ledger says it has spent', async () => {
  const clock = createManualClock()
  const [dead, alive] = openGateways(2, { budgets: [budgetOf({ id: 'budget_dead', microsMax: 10_000 })] }, clock)
  const admission = await dead!.limiter.admit({ principal, model: 'hal-1.0' })
  await admission.reserve(wish(9_000))
  await dead!.db.destroy()
  dead!.ledger.spent = 4_000
  const refused = await alive!.limiter.admit({ principal, model: 'hal-1.0' })
  const early = refused.reserve(wish(2_000))
  assert.equal(await Promise.race([early.then(() => 'reserved'), sleep(300, 'waits')]), 'waits')
  // It goes on asking all the time, and only so it can tell that the other one has vanished.
  for (let elapsedMs = 0; elapsedMs <= leaseMs; elapsedMs += 1_000) {
    clock.advance(1_000)
    await until(async () => (await counter('budget_dead')).at === clock.nowMs(), 'It did not ask again.')
  }
  await early
  const { level } = await counter('budget_dead')
  assert.equal(level, 4_000)
  const most = await alive!.limiter.admit({ principal, model: 'hal-1.0' })
  await most.reserve(wish(4_000))
  await alive!.leave()
})

test('what a gateway spent while the database was away is neither forgotten nor counted twice', async () => {
  const settings = { budgets: [budgetOf({ id: 'budget_away', microsMax: 10_000 })] }
  const [firstClock, secondClock] = [createManualClock(), createManualClock()]
  const [first] = openGateways(1, settings, firstClock)
  const [second] = openGateways(1, settings, secondClock)
  const spending = await first!.limiter.admit({ principal, model: 'hal-1.0' })
  await spending.reserve(wish(3_000))
  // The database has been away for a minute. The second gateway is back before the first one, whose rows are on its disk.
  secondClock.advance(60_000)
  const early = await second!.limiter.admit({ principal, model: 'hal-1.0' })
  const reserving = early.reserve(wish(8_000))
  assert.equal(await Promise.race([reserving.then(() => 'reserved'), sleep(300, 'waits')]), 'waits')
  firstClock.advance(60_000)
  spending.settle({ usage: zeroUsage, costMicros: 3_000, atMs: firstClock.nowMs() })
  first!.ledger.spent = second!.ledger.spent = 3_000
  const isTold = async () => {
    firstClock.advance(1_000)
    return (await counter('budget_away')).level === 3_000
  }
  await until(isTold, 'It did not tell what it had spent.')
  const refused = assert.rejects(reserving, (error) => error instanceof ApiError && error.code === 'budget-exceeded')
  secondClock.advance(250)
  await refused
  const rest = await second!.limiter.admit({ principal, model: 'hal-1.0' })
  await rest.reserve(wish(7_000))
  assert.equal((await counter('budget_away')).level, 3_000)
  await first!.leave()
  await second!.leave()
})

test('a database that hangs keeps a request waiting only for some seconds, and the next ones not at all', async () => {
  const clock = createManualClock()
  const answering = Promise.withResolvers<void>()
  const limits = [limitOf({ id: 'limit_hangs', inputTokensPerMinute: 1_000 })]
  const [gateway] = openGateways(1, { limits }, clock, (db) => answerAfter(db, answering.promise))
  const reserve = async () => (await gateway!.limiter.admit({ principal, model: 'hal-1.0' })).reserve(wish(10))
  const isUnavailable = (error: unknown) => error instanceof ApiError && error.code === 'overloaded'
  const first = reserve()
  const second = reserve()
  const refused = Promise.all([assert.rejects(first, isUnavailable), assert.rejects(second, isUnavailable)])
  await setImmediate()
  clock.advance(5_000)
  await refused
  const third = assert.rejects(reserve(), isUnavailable)
  await setImmediate()
  clock.advance(0)
  await third
  answering.resolve()
  // Those who gave up are expected back: it holds enough for more than the one it had asked for.
  const held = async () => (await leases('limit_hangs')).reduce((sum, { amount }) => sum + amount, 0)
  await until(async () => (await held()) >= 20, 'Nothing was taken for those who gave up.')
  await reserve()
  await gateway!.leave()
})

test('without the database a gateway gives out what it holds, and then says that it cannot tell', async () => {
  const clock = createManualClock()
  const [gateway] = openGateways(1, { limits: [limitOf({ id: 'limit_down', inputTokensPerMinute: 1_000 })] }, clock)
  const reserve = async () => (await gateway!.limiter.admit({ principal, model: 'hal-1.0' })).reserve(wish(10))
  await reserve()
  // The second time as much again is taken ahead.
  await reserve()
  await gateway!.db.destroy()
  await reserve()
  await assert.rejects(reserve(), (error) => error instanceof ApiError && error.code === 'overloaded')
})

test('a lease that has run out is not used any more', async () => {
  const clock = createManualClock()
  const [gateway] = openGateways(1, { limits: [limitOf({ id: 'limit_late', inputTokensPerMinute: 1_000 })] }, clock)
  const reserve = async () => (await gateway!.limiter.admit({ principal, model: 'hal-1.0' })).reserve(wish(10))
  await reserve()
  await reserve()
  await gateway!.db.destroy()
  clock.advance(leaseMs)
  await assert.rejects(reserve(), (error) => error instanceof ApiError && error.code === 'overloaded')
})

test('a request needs no round trip while its gateway holds enough', async () => {
  const [gateway] = openGateways(1, { limits: [limitOf({ id: 'limit_trips', inputTokensPerMinute: 1_000_000 })] })
  const trips = async () => {
    const { rows } = await sql<{
      at: number
    }>`select at from limit_counters where id = 'limit_trips:input-tokens'`.execute(gateway!.db)
    return rows[0]?.at
  }
  const seen = new Set<unknown>()
  for (let count = 0; count < 400; count++) {
    await ask(gateway!, 10)
    if (count % 4 === 0) seen.add(await trips())
  }
  assert.ok(seen.size < 40, `${seen.size}`)
  await gateway!.leave()
})

test('what nobody has used for longer than a month is forgotten', async () => {
  const db = connectPostgres(url)
  const shared = createSharedAllowances({ db, clock: systemClock, onError() {} })
  const dayMs = 24 * 3_600_000
  const atOf = (days: number) => systemClock.nowMs() - days * dayMs
  const values = [41, 39].map((days) => ({ id: `old_${days}`, level: 0, at: atOf(days) }))
  await db.insertInto('limit_counters').values(values).execute()
  await shared.removeOld()
  const left = await db.selectFrom('limit_counters').select('id').where('id', 'like', 'old_%').execute()
  assert.deepEqual(left, [{ id: 'old_39' }])
  await db.destroy()
})

/** Nothing that the database is asked is answered before that. */
function answerAfter(db: Database, answering: Promise<void>): Database {
  return db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      await answering
      return result
    },
  })
}

async function counter(id: string) {
  const db = connectPostgres(url)
  try {
    return await db.selectFrom('limit_counters').selectAll().where('id', 'like', `${id}:%`).executeTakeFirstOrThrow()
  } finally {
    await db.destroy()
  }
}

async function leases(id: string) {
  const db = connectPostgres(url)
  try {
    return await db.selectFrom('limit_leases').selectAll().where('counter_id', 'like', `${id}:%`).execute()
  } finally {
    await db.destroy()
  }
}
