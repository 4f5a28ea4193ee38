import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { openTestFeed } from '../../../test/harness/databases/change-feed.ts'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { ledgerRow } from '../../../test/harness/databases/ledger-row.ts'
import { createManualClock, type ManualClock } from '../../../test/harness/manual-clock.ts'
import { until } from '../../../test/harness/start-service.ts'
import { ApiError } from '../../core/error.ts'
import type { ChangeFeed } from '../../db/change-feed.ts'
import { lockChainEnd } from '../../db/audit-chain.ts'
import { installationChain } from '../../db/change.ts'
import { countChange } from '../../db/changes.ts'
import type { Database } from '../../db/database.ts'
import { createLog } from '../../telemetry/log.ts'
import { createPriceBook, openPriceBook, UnusablePrice, type PriceBook } from './price-book.ts'
import {
  ForeignCurrency,
  NotVoidable,
  priceLeadMs,
  readPrices,
  setPrice,
  TooEarly,
  voidPrice,
  type NewPrice,
} from './prices.ts'

const operator = { kind: 'operator' } as const
const rates = {
  input: 3_000_000,
  cacheRead: 300_000,
  cacheWriteShort: 3_750_000,
  cacheWriteLong: 6_000_000,
  output: 15,
}
const midnight = Date.UTC(2027, 2, 1)

onEachDatabase(({ open }) => {
  let db: Database
  let clock: ManualClock
  let feed: ChangeFeed
  beforeEach(async () => {
    db = await open()
    clock = createManualClock(midnight - 60_000)
    feed = openTestFeed(db, clock)
    await db.insertInto('organizations').values({ id: 'org_1', name: 'One', created_at: 0 }).execute()
  })
  afterEach(async () => {
    await feed.close()
    await db.destroy()
  })

  const set = (changes: Partial<NewPrice>) =>
    setPrice({ db, clock, currency: 'USD' }, operator, {
      organizationId: null,
      model: 'hal-1.0',
      effectiveAtMs: midnight,
      rates,
      ...changes,
    })
  const inputRateOf = (book: PriceBook, atMs: number) => {
    try {
      return book.find('org_1', 'hal-1.0', atMs)?.rates.input
    } catch {
      return null
    }
  }
  const inputRateAt = async (atMs: number, organizationId: 'org_1' | 'org_2' = 'org_1') =>
    createPriceBook(await readPrices(db, 'USD')).find(organizationId, 'hal-1.0', atMs)?.rates.input ?? null

  test('a price is in force from its moment on, and until the next one', async () => {
    await set({})
    await set({ effectiveAtMs: midnight + 1_000, rates: { ...rates, input: 5_000_000 } })
    assert.equal(await inputRateAt(midnight - 1), null)
    assert.equal(await inputRateAt(midnight), 3_000_000)
    assert.equal(await inputRateAt(midnight + 999), 3_000_000)
    assert.equal(await inputRateAt(midnight + 1_000), 5_000_000)
  })

  test('an organization’s own price counts whole until it ends', async () => {
    await set({})
    await set({ organizationId: 'org_1', rates: { ...rates, input: 1_000_000 } })
    await set({ organizationId: 'org_1', effectiveAtMs: midnight + 1_000, rates: null })
    assert.deepEqual([await inputRateAt(midnight), await inputRateAt(midnight, 'org_2')], [1_000_000, 3_000_000])
    assert.equal(await inputRateAt(midnight + 1_000), 3_000_000)
    await set({ effectiveAtMs: midnight + 2_000, rates: null })
    assert.equal(await inputRateAt(midnight + 2_000), null)
  })

  test('the later one of two prices for one moment counts', async () => {
    await set({})
    await set({ rates: { ...rates, input: 9_000_000 } })
    assert.equal(await inputRateAt(midnight), 9_000_000)
  })

  test('a price without one of its rates is refused, and so is one that is no whole number', async () => {
    for (const name of Object.keys(rates)) {
      const partial = { ...rates, [name]: undefined } as unknown as typeof rates
      await assert.rejects(set({ rates: partial }), new RegExp(name))
    }
    await assert.rejects(set({ rates: { ...rates, output: 0.5 } }))
    await assert.rejects(set({ rates: { ...rates, output: -1 } }))
    await assert.rejects(set({ rates: { ...rates, cacheRead: rates.input + 1 } }), /cannot cost more/)
    assert.deepEqual(await readPrices(db, 'USD'), [])
  })

  test('a price cannot be set for the past, nor for a moment that a service may not hear of in time', async () => {
    await assert.rejects(set({ effectiveAtMs: clock.nowMs() + priceLeadMs - 1 }), TooEarly)
    const { effectiveAtMs } = await set({ effectiveAtMs: null })
    assert.equal(effectiveAtMs, clock.nowMs() + priceLeadMs)
  })

  test('a price that waits for another writer counts its time from when it is its turn', async () => {
    for (const first of ['prices counter', 'audit chain'] as const) {
      const [holding, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const other = db.transaction().execute(async (transaction) => {
        if (first === 'prices counter') await countChange(transaction, 'prices')
        else await lockChainEnd(transaction, installationChain)
        holding.resolve()
        await release.promise
      })
      await holding.promise
      const soon = set({ effectiveAtMs: null })
      const atOnce = set({ effectiveAtMs: clock.nowMs() + priceLeadMs })
      // Both have begun and wait by then; PostgreSQL tells nobody of it.
      await new Promise((resolve) => setTimeout(resolve, 200))
      clock.advance(60_000)
      release.resolve()
      await other
      const [made, late] = await Promise.allSettled([soon, atOnce])
      assert.equal(made.status === 'fulfilled' && made.value.effectiveAtMs, clock.nowMs() + priceLeadMs, first)
      assert.ok(late.status === 'rejected' && late.reason instanceof TooEarly, first)
    }
  })

  test('the price that was written last counts where several are set at once for one moment', async () => {
    const made = await Promise.all([1, 2, 3, 4, 5].map((input) => set({ rates: { ...rates, cacheRead: 0, input } })))
    const last = made.toSorted((a, b) => a.createdAtMs - b.createdAtMs).at(-1)
    assert.equal(new Set(made.map(({ createdAtMs }) => createdAtMs)).size, made.length)
    const lastAudited = await db.selectFrom('audit').select('target').orderBy('sequence', 'desc').executeTakeFirst()
    assert.equal(lastAudited?.target, last?.id)
    assert.equal(await inputRateAt(midnight), last?.rates?.input)
  })

  test('every price has its audit row', async () => {
    const { id } = await set({ organizationId: 'org_1' })
    const rows = await db.selectFrom('audit').select(['action', 'target', 'organization_id']).execute()
    assert.deepEqual({ ...rows[0] }, { action: 'prices:set', target: id, organization_id: 'org_1' })
  })

  test('a running service hears of a price that was set elsewhere', async () => {
    const book = await openPriceBook({ db, feed, log: createLog('silent'), currency: 'USD', isRequired: false })
    assert.equal(book.find('org_1', 'hal-1.0', midnight), null)
    const { effectiveAtMs } = await set({ effectiveAtMs: null })
    clock.advance(1_000)
    await until(() => book.find('org_1', 'hal-1.0', effectiveAtMs)?.rates.input === 3_000_000, 'It was not heard of.')
    book.stop()
  })

  test('where prices are required, each organization without one is refused, also after the start', async () => {
    await set({ organizationId: 'org_1' })
    await set({ organizationId: 'org_1', effectiveAtMs: midnight + 1_000, rates: null })
    const book = await openPriceBook({ db, feed, log: createLog('silent'), currency: 'USD', isRequired: true })
    assert.equal(book.find('org_1', 'hal-1.0', midnight)?.rates.input, 3_000_000)
    assert.throws(() => book.find('org_2', 'hal-1.0', midnight), /hal-1.0 has no price for this organization/)
    assert.throws(() => book.find('org_1', 'hal-1.0', midnight + 1_000), ApiError)
    book.stop()
  })

  test('a price in another currency is refused', async () => {
    await assert.rejects(set({ currency: 'EUR' }), ForeignCurrency)
    assert.deepEqual(await readPrices(db, 'USD'), [])
  })

  const faults = [
    { name: 'in another currency', damage: { currency: 'EUR' } },
    { name: 'that was damaged in the database', damage: { cache_read: 4_000_000 } },
  ]
  for (const { name, damage } of faults) {
    test(`a price ${name} refuses the requests it is for, hides no other, and can be voided`, async () => {
      await set({ model: 'tycho-1.0' })
      await set({})
      const { id } = await set({ effectiveAtMs: midnight + 1_000 })
      await db
        .updateTable('prices')
        .set(damage as never)
        .where('id', '=', id)
        .execute()
      const book = await openPriceBook({ db, feed, log: createLog('silent'), currency: 'USD', isRequired: false })
      assert.equal(book.find('org_1', 'tycho-1.0', midnight + 1_000)?.rates.input, 3_000_000)
      assert.equal(book.find('org_1', 'hal-1.0', midnight)?.rates.input, 3_000_000)
      assert.throws(() => book.find('org_1', 'hal-1.0', midnight + 1_000), UnusablePrice)
      clock.advance(120_000)
      await voidPrice({ db, clock, currency: 'USD' }, operator, id)
      clock.advance(1_000)
      await until(() => inputRateOf(book, midnight + 1_000) === 3_000_000, 'The void was not heard of.')
      book.stop()
    })
  }

  test('after a change of currency an organization whose own price was ended pays the general one', async () => {
    await set({ organizationId: 'org_1' })
    await set({ organizationId: 'org_1', effectiveAtMs: midnight + 1_000, rates: null })
    clock.advance(120_000)
    const inEuros = { db, clock, currency: 'EUR' }
    await setPrice(inEuros, operator, {
      organizationId: null,
      model: 'hal-1.0',
      rates,
      effectiveAtMs: null,
      currency: 'EUR',
    })
    clock.advance(priceLeadMs)
    assert.equal(createPriceBook(await readPrices(db, 'EUR')).find('org_1', 'hal-1.0', clock.nowMs())?.currency, 'EUR')
  })

  test('a price that cannot be used and that the ledger names is not voided', async () => {
    const { id } = await set({})
    await db.updateTable('prices').set({ currency: 'EUR' }).where('id', '=', id).execute()
    await db
      .insertInto('ledger')
      .values({ ...ledgerRow(1), price_id: id, cost_micros: 0, cost_rest_picos: 0 })
      .execute()
    clock.advance(120_000)
    await assert.rejects(voidPrice({ db, clock, currency: 'USD' }, operator, id), NotVoidable)
    assert.equal((await readPrices(db, 'USD')).length, 1)
  })

  test('a price that is void leaves what it was in the audit, and one that is in force stays', async () => {
    const { id } = await set({ effectiveAtMs: midnight })
    clock.advance(60_000 - priceLeadMs + 1)
    await assert.rejects(voidPrice({ db, clock, currency: 'USD' }, operator, id), NotVoidable)
    const later = await set({ effectiveAtMs: midnight + 3_600_000 })
    await voidPrice({ db, clock, currency: 'USD' }, operator, later.id)
    assert.equal((await readPrices(db, 'USD')).length, 1)
    const last = await db
      .selectFrom('audit')
      .select(['action', 'target', 'before'])
      .orderBy('sequence', 'desc')
      .execute()
    assert.equal(last[0]?.action, 'prices:void')
    assert.equal(last[0].target, later.id)
    assert.match(last[0].before ?? '', /"input":3000000/)
  })
})
