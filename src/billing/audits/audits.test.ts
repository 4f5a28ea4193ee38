import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { createRandom } from '../../../test/campaigns/random.ts'
import { ledgerRow } from '../../../test/harness/databases/ledger-row.ts'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { randomEntry } from '../../../test/harness/databases/ledger-entries.ts'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import type { Database } from '../../db/database.ts'
import { isPostgres } from '../../db/is-postgres.ts'
import { createDirectLedgerWriter, insertRows } from '../ledger/writer/insert-rows.ts'
import { createLedger } from '../ledger/ledger.ts'
import type { LedgerEntry } from '../ledger/ledger-entry.ts'
import { createPriceBook } from '../prices/price-book.ts'
import { readPrices, setPrice } from '../prices/prices.ts'
import { readLedger } from '../ledger/read-ledger.ts'
import { deleteOldRows } from '../ledger-jobs.ts'
import { queryUsage } from '../usage/query-usage.ts'
import { rollUp } from '../usage/roll-up.ts'
import { dayMs } from '../usage/usage-columns.ts'
import { reconcile } from './reconcile.ts'
import { verifyLedger, type LedgerFault } from './verify-ledger.ts'

const day = Date.UTC(2027, 2, 1)
const nowMs = day + 10 * dayMs
const rates = {
  input: 3_000_003,
  cacheRead: 300_001,
  cacheWriteShort: 3_750_000,
  cacheWriteLong: 6_000_000,
  output: 15_000_001,
}
const noPause = () => Promise.resolve()

onEachDatabase((database) => {
  let db: Database
  let entries: LedgerEntry[]
  const clock = createManualClock(day - dayMs)
  beforeEach(async () => {
    db = await database.open()
    for (const model of ['clarke-1.0', 'hal-1.0']) {
      for (const effectiveAtMs of [clock.nowMs() + 10_000, day + dayMs]) {
        await setPrice(
          { db, clock, currency: 'USD' },
          { kind: 'operator' },
          {
            organizationId: null,
            model,
            effectiveAtMs,
            currency: 'USD',
            rates: { ...rates, output: rates.output + (effectiveAtMs % 1_000_003) },
          },
        )
      }
    }
    const prices = createPriceBook(await readPrices(db, 'USD'))
    const options = { random: createRandom(11), prices, fromMs: day, toMs: day + 3 * dayMs }
    entries = Array.from({ length: 700 }, (_, number) => randomEntry(number, options)).toSorted(
      (a, b) => a.atMs - b.atMs,
    )
    const ledger = createLedger(createDirectLedgerWriter(db))
    await Promise.all(entries.map((entry) => ledger.append(entry)))
  })
  afterEach(() => db.destroy())

  test('rows without a price are named where prices are required, and only there', async () => {
    const unpriced = { price_id: null, cost_micros: null, model: 'tycho-1.0' }
    await insertRows(db, [{ ...ledgerRow(90_000), ...unpriced, outcome: 'finished', at: day, admitted_at: day }])
    const faults: LedgerFault[] = []
    await verifyLedger({ db, currency: 'USD', pricesRequired: true }, (fault) => faults.push(fault))
    const unpricedRows = entries.filter(({ charge, outcome }) => charge === null && outcome !== 'failed').length + 1
    assert.equal(faults.filter(({ fault }) => /billing.pricesRequired/.test(fault)).length, unpricedRows)
    assert.deepEqual((await verify()).faults, [])
  })

  async function verify(): Promise<{ rows: number; costPicos: bigint; faults: LedgerFault[] }> {
    const faults: LedgerFault[] = []
    const verdict = await verifyLedger({ db, currency: 'USD' }, (fault) => faults.push(fault))
    assert.equal(verdict.faults, faults.length)
    return { ...verdict, faults }
  }

  /** Changes rows as somebody could who has the database's password. */
  async function tamper(change: ReturnType<typeof sql>): Promise<void> {
    const [off, on] = isPostgres(db)
      ? ['alter table ledger disable trigger all', 'alter table ledger enable trigger all']
      : ['drop trigger ledger_refuses_update', null]
    await sql.raw(off ?? '').execute(db)
    await change.execute(db)
    if (on !== null && on !== undefined) await sql.raw(on).execute(db)
  }

  test('an honest ledger verifies to the last unit, rolled up or not', async () => {
    const costPicos = entries.reduce((sum, { charge }) => sum + (charge?.costPicos ?? 0n), 0n)
    assert.deepEqual(await verify(), { rows: 700, costPicos, faults: [] })
    await rollUp(db)
    assert.deepEqual(await verify(), { rows: 700, costPicos, faults: [] })
  })

  test('rows of a currency that was in use before are right by their own prices, which are named until others follow', async () => {
    const verifyInEuros = async () => {
      const faults: LedgerFault[] = []
      await verifyLedger({ db, currency: 'EUR' }, (fault) => faults.push(fault))
      return faults.map(({ fault }) => fault)
    }
    const foreign = 'cannot be used: it is in USD and billing.currency is EUR'
    assert.deepEqual(await verifyInEuros(), [foreign, foreign])
    const parts = { db, clock: createManualClock(day + 20 * dayMs), currency: 'EUR' }
    const price = { organizationId: null, effectiveAtMs: null, currency: 'EUR' }
    await setPrice(parts, { kind: 'operator' }, { ...price, model: 'hal-1.0', rates })
    await setPrice(parts, { kind: 'operator' }, { ...price, model: 'clarke-1.0', rates: null })
    assert.deepEqual(await verifyInEuros(), [])
  })

  test('a row that was changed by one token or one micro-unit is named', async () => {
    await rollUp(db)
    const priced = entries.filter(({ charge }) => (charge?.costPicos ?? 0n) > 0n)
    const [one, other] = priced.map(({ requestId }) => requestId)
    await tamper(sql`update ledger set cost_micros = cost_micros + 1 where request_id = ${one}`)
    const { faults } = await verify()
    assert.match(faults.find(({ sequence }) => sequence !== null)?.subject ?? '', new RegExp(`^${one} `))
    assert.deepEqual(faults.map(({ subject }) => subject).slice(1), ['usage_days', 'usage_hours'])
    if (isPostgres(db)) await tamper(sql`update ledger set output = output + 1 where request_id = ${other}`)
    else await sql`update ledger set output = output + 1 where request_id = ${other}`.execute(db)
    assert.ok((await verify()).faults.some(({ subject }) => subject.startsWith(`${other} `)))
  })

  test('a price that was changed, or that was not in force, is noticed', async () => {
    const fault = entries.find(({ charge }) => (charge?.costPicos ?? 0n) > 0n)
    const priceId = fault?.charge?.priceId ?? ''
    await sql`update prices set effective_at = ${nowMs} where id = ${priceId}`.execute(db)
    assert.ok((await verify()).faults.every(({ fault: text }) => /when it was admitted the price was/.test(text)))
    assert.notEqual((await verify()).faults.length, 0)
  })

  test('reconciling finds nothing in an honest ledger, and a sum that differs by one', async () => {
    assert.deepEqual(await reconcile({ db, clock }, noPause), { sequence: 700, differences: [] })
    assert.deepEqual(await reconcile({ db, clock }, noPause), { sequence: 700, differences: [] })
    const [row] = await db.selectFrom('usage_hours').selectAll().limit(1).execute()
    await sql`update usage_hours set output = output + 1 where at = ${row?.at} and api_key_id = ${row?.api_key_id}
      and model = ${row?.model}`.execute(db)
    const { differences } = await reconcile({ db, clock }, noPause)
    assert.deepEqual(
      differences.map(({ column }) => column),
      ['output'],
    )
    const kept = await db.selectFrom('reconciliations').select('is_equal').execute()
    assert.deepEqual(
      kept.map((result) => result.is_equal).toSorted((a, b) => a - b),
      [0, 1, 1],
    )
  })

  test('old rows go when all sums have them, and the sums stay', async () => {
    const query = {
      organizationId: 'org_1',
      fromMs: day,
      toMs: nowMs,
      bucket: 'day',
      groupBy: 'key',
      limit: 1_000,
    } as const
    const before = await queryUsage(db, { ...query, cursor: null })
    const retention = { nowMs, daysMax: 8, pause: noPause }
    assert.equal(await deleteOldRows(db, retention), 0, 'nothing is rolled up')
    await rollUp(db)
    assert.equal(await deleteOldRows(db, retention), 0, 'nothing is reconciled')
    await reconcile({ db, clock }, noPause)
    const old = entries.filter(({ atMs }) => atMs < day + 2 * dayMs).length
    assert.equal(await deleteOldRows(db, retention), old)
    assert.equal(await deleteOldRows(db, retention), 0)
    assert.deepEqual(await queryUsage(db, { ...query, cursor: null }), before)
    assert.equal((await verify()).rows, 700 - old)
    assert.deepEqual((await verify()).faults, [])
    assert.deepEqual((await reconcile({ db, clock }, noPause)).differences, [])
    await assert.rejects(db.deleteFrom('ledger').execute(), /append-only/, 'what is left is guarded as before')
  })

  test('what was said in a request goes with its row, and is kept as long as that', async () => {
    const all = await db.selectFrom('ledger').select(['request_id', 'at']).orderBy('sequence').execute()
    const [old, recent] = [all[0], all.at(-1)]
    assert.ok(old !== undefined && recent !== undefined)
    for (const { request_id, at } of [old, recent]) {
      const whose = { organization_id: 'org_1', project_id: 'proj_1' } as const
      const row = { request_id, ...whose, at, ends_at: at + 30 * dayMs, state: 'too-large', bytes: 0 } as const
      await db.insertInto('recordings').values(row).execute()
    }
    await rollUp(db)
    await reconcile({ db, clock }, noPause)
    assert.notEqual(await deleteOldRows(db, { nowMs, daysMax: 8, pause: noPause }), 0)
    const left = await db.selectFrom('recordings').select('request_id').execute()
    assert.deepEqual(
      left.map(({ request_id: id }) => id),
      [recent.request_id],
    )
  })

  test('the whole ledger is read once, in its order', async () => {
    const sequences: number[] = []
    for await (const page of readLedger(db)) sequences.push(...page.map(({ sequence }) => sequence))
    assert.deepEqual(
      sequences,
      Array.from({ length: 700 }, (_, index) => index + 1),
    )
    const times: number[] = []
    const range = { organizationId: 'org_1', fromMs: day + dayMs, toMs: day + 2 * dayMs } as const
    for await (const page of readLedger(db, range)) times.push(...page.map(({ at }) => at))
    const expected = entries.filter(
      ({ atMs, principal }) => atMs >= day + dayMs && atMs < day + 2 * dayMs && principal.organizationId === 'org_1',
    )
    assert.equal(times.length, expected.length)
  })
})
