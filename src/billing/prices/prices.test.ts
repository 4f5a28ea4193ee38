import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { onEachDatabase } from '../../../test/harness/databases.ts'
import { createManualClock, type ManualClock } from '../../../test/harness/manual-clock.ts'
import type { Database } from '../../db/database.ts'
import { createLog } from '../../telemetry/log.ts'
import { createPriceBook } from './price-book.ts'
import { openPriceBook } from './live-price-book.ts'
import { priceLeadMs, readPrices, setPrice, TooEarly, type NewPrice } from './prices.ts'

const operator = { kind: 'operator' } as const
const rates = {
  input: 3_000_000,
  cacheRead: 300_000,
  cacheWriteShort: 3_750_000,
  cacheWriteLong: 6_000_000,
  output: 15,
}
const midnight = Date.UTC(2027, 2, 1)

onEachDatabase((database) => {
  let db: Database
  let clock: ManualClock
  beforeEach(async () => {
    db = await database.open()
    clock = createManualClock(midnight - 60_000)
    await db.insertInto('organizations').values({ id: 'org_1', name: 'One', created_at: 0 }).execute()
  })
  afterEach(() => db.destroy())

  const set = (changes: Partial<NewPrice>) =>
    setPrice({ db, clock }, operator, {
      organizationId: null,
      model: 'hal-1.0',
      effectiveAtMs: midnight,
      currency: 'USD',
      rates,
      ...changes,
    })
  const inputRateAt = async (atMs: number, organizationId: 'org_1' | 'org_2' = 'org_1') =>
    createPriceBook(await readPrices(db)).find(organizationId, 'hal-1.0', atMs)?.rates.input ?? null

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

  test('of two prices for one moment the later one counts', async () => {
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
    assert.deepEqual(await readPrices(db), [])
  })

  test('a price cannot be set for the past, nor for a moment that a service may not hear of in time', async () => {
    await assert.rejects(set({ effectiveAtMs: clock.nowMs() + priceLeadMs - 1 }), TooEarly)
    const { effectiveAtMs } = await set({ effectiveAtMs: null })
    assert.equal(effectiveAtMs, clock.nowMs() + priceLeadMs)
  })

  test('every price has its audit row', async () => {
    const { id } = await set({ organizationId: 'org_1' })
    const rows = await db.selectFrom('audit').select(['action', 'target', 'organization_id']).execute()
    assert.deepEqual({ ...rows[0] }, { action: 'prices:set', target: id, organization_id: 'org_1' })
  })

  test('a running service learns of a price before it is in force, and goes on when it cannot look', async () => {
    const book = await openPriceBook({ db, clock, log: createLog('silent'), currency: 'USD' })
    assert.equal(book.find('org_1', 'hal-1.0', midnight), null)
    const { effectiveAtMs } = await set({ effectiveAtMs: null })
    for (let passed = 0; passed < priceLeadMs; passed += 1_000) {
      clock.advance(1_000)
      for (let turn = 0; turn < 20; turn++) await nextTurn()
      if (database.name === 'PostgreSQL') await db.selectFrom('prices').selectAll().execute()
    }
    await book.reload()
    assert.equal(book.find('org_1', 'hal-1.0', effectiveAtMs)?.rates.input, 3_000_000)
    book.stop()
  })

  test('prices in another currency stop the start', async () => {
    await set({ currency: 'EUR' })
    const opening = openPriceBook({ db, clock, log: createLog('silent'), currency: 'USD' })
    await assert.rejects(opening, /An installation has one currency/)
  })

  test('a price that was damaged in the database stops the start', async () => {
    await set({})
    await db
      .updateTable('prices')
      .set({ cache_read: 4_000_000 } as never)
      .execute()
    const opening = openPriceBook({ db, clock, log: createLog('silent'), currency: 'USD' })
    await assert.rejects(opening, /cannot be used/)
  })
})
