import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { createRandom } from '../../../test/campaigns/random.ts'
import { onEachDatabase } from '../../../test/harness/databases.ts'
import { randomEntry } from '../../../test/harness/ledger-entries.ts'
import { createManualClock, type ManualClock } from '../../../test/harness/manual-clock.ts'
import type { Database } from '../../db/database.ts'
import { createDirectRowWriter } from '../ledger/write-ahead/insert-rows.ts'
import { createLog } from '../../telemetry/log.ts'
import { verifyLedger } from '../audits/verify-ledger.ts'
import { createDeliveries, type Deliveries } from './deliveries.ts'
import { createLedger } from '../ledger/ledger.ts'
import type { LedgerEntry } from '../ledger/ledger-entry.ts'
import type { Price } from '../prices/price.ts'
import { createPriceBook } from '../prices/price-book.ts'
import { queryUsage } from '../usage/query-usage.ts'
import { rollUp } from '../usage/roll-up.ts'

const body = Buffer.from('{"model":"hal-1.0"}')
const price: Price = {
  id: 'price_1',
  organizationId: null,
  model: 'hal-1.0',
  effectiveAtMs: 0,
  currency: 'USD',
  rates: {
    input: 3_000_000,
    cacheRead: 300_000,
    cacheWriteShort: 3_750_000,
    cacheWriteLong: 6_000_000,
    output: 15_000_000,
  },
  createdAtMs: 0,
}

onEachDatabase((database) => {
  let db: Database
  let clock: ManualClock
  let deliveries: Deliveries
  let template: LedgerEntry
  beforeEach(async () => {
    db = await database.open()
    clock = createManualClock()
    deliveries = open()
    const options = {
      random: createRandom(2),
      prices: createPriceBook([price]),
      fromMs: clock.nowMs(),
      toMs: clock.nowMs() + 1,
    }
    const numbers = Array.from({ length: 50 }, (_, number) => number)
    const entry = numbers
      .map((number) => randomEntry(number, options))
      .find(({ charge }) => (charge?.costMicros ?? 0) > 0)
    assert.ok(entry !== undefined)
    template = entry
  })
  afterEach(async () => {
    await deliveries.close()
    await db.destroy()
  })

  const open = () =>
    createDeliveries({
      db,
      rows: createDirectRowWriter(db),
      clock,
      log: createLog('silent'),
      hashKey: new Uint8Array(32),
    })
  const hash = () => deliveries.hashBody(template.principal.apiKeyId, body)

  async function answer(
    number: number,
    wasDelivered: boolean,
    outcome: LedgerEntry['outcome'] = 'finished',
  ): Promise<void> {
    const requestId = `req_again_${number}` as const
    const end = deliveries.begin(requestId)
    const origin = { protocol: 'messages', isStream: true, clientRequestId: null, bodyHash: hash() } as const
    const atMs = clock.nowMs()
    const ledger = createLedger(createDirectRowWriter(db))
    await ledger.append({ ...template, requestId, atMs, admittedAtMs: atMs, outcome, origin })
    end(wasDelivered)
  }
  const again = () => deliveries.voidUndelivered(template.principal, hash())
  const sums = async () => {
    const { organizationId } = template.principal
    const query = {
      organizationId,
      fromMs: 0,
      toMs: null,
      bucket: 'whole',
      groupBy: null,
      limit: 1,
      cursor: null,
    } as const
    const [row] = (await queryUsage(db, query)).rows
    return [row?.requests, row?.reversed, row?.costMicros]
  }
  const once = () => BigInt(template.charge?.costMicros ?? 0)

  test('an answer that did not arrive and is asked for again is charged once', async () => {
    await answer(1, false)
    assert.equal(await again(), 'req_again_1')
    await answer(2, true)
    assert.deepEqual(await sums(), [2, 1, once()])
    await rollUp(db)
    assert.deepEqual(await sums(), [2, 1, once()])
    const reversal = await db.selectFrom('ledger').selectAll().where('kind', '=', 'reversal').executeTakeFirstOrThrow()
    assert.deepEqual([reversal.request_id, reversal.output], ['req_again_1', 0 - template.usage.output])
  })

  test('a reversal verifies like any row', async () => {
    await db
      .insertInto('prices')
      .values({
        id: 'price_1',
        organization_id: null,
        model: 'hal-1.0',
        effective_at: 0,
        currency: 'USD',
        is_end: 0,
        input: 3_000_000,
        cache_read: 300_000,
        cache_write_short: 3_750_000,
        cache_write_long: 6_000_000,
        output: 15_000_000,
        created_at: 0,
      })
      .execute()
    await answer(1, false)
    await again()
    const faults: unknown[] = []
    assert.deepEqual(await verifyLedger(db, (fault) => faults.push(fault)), { rows: 2, costMicros: 0n, faults: 0 })
  })

  test('an answer that arrived, is on its way, was aborted, is another’s or is too old stays charged', async () => {
    await answer(1, true)
    assert.equal(await again(), null, 'its mark is not written yet')
    clock.advance(1_000)
    await deliveries.close()
    deliveries = open()
    assert.equal(await again(), null, 'its mark is in the database')
    await answer(2, false, 'aborted')
    assert.equal(await again(), null)
    await answer(3, false)
    const other = { ...template.principal, apiKeyId: 'key_other' } as const
    assert.equal(await deliveries.voidUndelivered(other, hash()), null)
    assert.equal(await deliveries.voidUndelivered(template.principal, 'another body'), null)
    clock.advance(600_001)
    assert.equal(await again(), null)
    deliveries.begin('req_again_4')
    const origin = { protocol: 'messages', isStream: true, clientRequestId: null, bodyHash: hash() } as const
    const underWay = { ...template, requestId: 'req_again_4', atMs: clock.nowMs(), origin } as const
    await createLedger(createDirectRowWriter(db)).append(underWay)
    assert.equal(await again(), null)
  })

  test('after a crash nothing is known of the last answers, and one that is asked for again is void', async () => {
    await answer(1, false)
    deliveries = open()
    assert.equal(await again(), 'req_again_1')
    assert.equal(await again(), null, 'it is void already')
  })

  test('many marks are written together, each once, and kept for as long as anybody asks', async () => {
    const marked = async () => (await db.selectFrom('deliveries').select('request_id').execute()).length
    const deliver = async (from: number, count: number) => {
      for (let number = from; number < from + count; number += 1) deliveries.begin(`req_mark_${number}`)(true)
      await deliveries.close()
    }
    await deliver(0, 3_000)
    await deliver(2_999, 2)
    assert.equal(await marked(), 3_001)
    clock.advance(20 * 60_000 + 1)
    await deliver(4_000, 1)
    assert.equal(await marked(), 1_002, 'those that nobody asks for any more go, so many at a time')
    await deliver(4_001, 1)
    assert.equal(await marked(), 2)
  })

  test('a client cannot go on for nothing by breaking off each answer', async () => {
    for (const number of [1, 2, 3, 4]) {
      await answer(number, false)
      assert.equal(await again(), number <= 2 ? `req_again_${number}` : null)
    }
    assert.deepEqual(await sums(), [4, 2, once() * 2n])
  })

  test('a hash is of one key and one body', () => {
    assert.notEqual(hash(), deliveries.hashBody('key_other', body))
    assert.notEqual(hash(), deliveries.hashBody(template.principal.apiKeyId, Buffer.from('{}')))
  })
})
