import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { createRandom } from '../../../test/campaigns/random.ts'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { randomEntry } from '../../../test/harness/databases/ledger-entries.ts'
import type { Clock } from '../../lib/clock.ts'
import { createManualClock, type ManualClock } from '../../../test/harness/manual-clock.ts'
import { until } from '../../../test/harness/start-service.ts'
import type { Database } from '../../db/database.ts'
import { isPostgres } from '../../db/is-postgres.ts'
import { createDirectLedgerWriter } from '../ledger/writer/insert-rows.ts'
import { createLog } from '../../telemetry/log.ts'
import { verifyLedger } from '../audits/verify-ledger.ts'
import { createDeliveries, type Deliveries } from './deliveries.ts'
import { createLedger } from '../ledger/ledger.ts'
import type { LedgerEntry } from '../ledger/ledger-entry.ts'
import type { Price } from '../prices/price.ts'
import { createPriceBook } from '../prices/price-book.ts'
import { queryUsage } from '../usage/query-usage.ts'
import { rollUp } from '../usage/roll-up.ts'

type Answered = {
  readonly outcome: LedgerEntry['outcome']
  /** Whether the client says that it sent the body before. */
  readonly isRepeated: boolean
  readonly sent: Buffer
  readonly by: Deliveries
  readonly atMs: number
}

const body: Buffer = Buffer.from('{"model":"hal-1.0"}')
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
  fault: null,
}

onEachDatabase((database) => {
  let db: Database
  let clock: ManualClock
  let deliveries: Deliveries
  let template: LedgerEntry
  /** What the operator is warned of. */
  let warnings: object[]
  beforeEach(async () => {
    db = await database.open()
    clock = createManualClock()
    warnings = []
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
      .find(({ charge }) => (charge?.costPicos ?? 0n) > 0n)
    assert.ok(entry !== undefined)
    template = entry
  })
  afterEach(async () => {
    await deliveries.close()
    await db.destroy()
  })

  /** A gateway: whatever its own clock says, the database has one. */
  const open = ({ reversalsPerKeyDayMax = 20, own = clock }: { reversalsPerKeyDayMax?: number; own?: Clock } = {}) =>
    createDeliveries({
      db,
      clock: own,
      log: Object.assign(createLog('silent'), { warn: (fields: object) => void warnings.push(fields) }),
      hashKey: new Uint8Array(32),
      reversalsPerKeyDayMax,
      readNow: () => Promise.resolve(clock.nowMs()),
    })
  const hash = (sent = body) => deliveries.hashBody(template.principal.apiKeyId, sent)

  type End = (wasDelivered: boolean) => Promise<void>
  /** The row of an answer is written; returns the way to say what became of the answer. */
  async function charge(
    number: number,
    {
      outcome = 'finished',
      isRepeated = false,
      sent = body,
      by = deliveries,
      atMs = clock.nowMs(),
    }: Partial<Answered> = {},
  ): Promise<End> {
    const requestId = `req_again_${number}` as const
    const bodyHash = hash(sent)
    const end = by.begin(requestId, isRepeated ? { principal: template.principal, bodyHash } : null)
    const origin = { protocol: 'messages', isStream: true, clientRequestId: null, bodyHash } as const
    const ledger = createLedger(createDirectLedgerWriter(db))
    await ledger.append({ ...template, requestId, atMs, admittedAtMs: atMs, outcome, origin })
    return end
  }
  async function answer(number: number, wasDelivered: boolean, answered: Partial<Answered> = {}): Promise<void> {
    const end = await charge(number, answered)
    await end(wasDelivered)
  }
  const again = (number: number, wasDelivered = true, answered: Partial<Answered> = {}) =>
    answer(number, wasDelivered, { ...answered, isRepeated: true })
  const waits = async () => (await db.selectFrom('repetitions').select('request_id').execute()).length
  const mark = (number: number) =>
    db.selectFrom('deliveries').selectAll().where('request_id', '=', `req_again_${number}`).executeTakeFirst()
  /** Time goes on until it is so. */
  const eventually = (holds: () => Promise<boolean>) =>
    until(() => {
      clock.advance(1_000)
      return holds()
    }, 'It never is so.')
  const decided = () => eventually(async () => (await waits()) === 0)
  const voided = async () => {
    const rows = await db.selectFrom('ledger').select('request_id').where('kind', '=', 'reversal').execute()
    return rows.map(({ request_id: id }) => Number(id.replace('req_again_', ''))).toSorted((a, b) => a - b)
  }
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
    return [row?.requests, row?.reversed, row?.costPicos]
  }
  const once = () => template.charge?.costPicos ?? 0n

  test('an answer that did not arrive and is asked for again is charged once', async () => {
    await answer(1, false)
    await again(2)
    assert.deepEqual(await voided(), [1])
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
    await again(2)
    const faults: unknown[] = []
    assert.deepEqual(await verifyLedger({ db, currency: 'USD' }, (fault) => faults.push(fault)), {
      rows: 3,
      costPicos: once(),
      faults: 0,
    })
  })

  test('an answer that arrived, is on its way, was aborted, is another’s or is too old stays charged', async () => {
    await answer(1, true)
    await again(2)
    assert.deepEqual(await voided(), [], 'its mark is not written yet')
    clock.advance(1_000)
    await deliveries.close()
    deliveries = open()
    await again(3)
    assert.deepEqual(await voided(), [], 'its mark is in the database')
    await answer(4, false, { outcome: 'aborted' })
    await answer(5, false, { sent: Buffer.from('another body') })
    await again(6)
    assert.deepEqual(await voided(), [])
    await answer(7, false)
    clock.advance(600_001)
    await again(8)
    const underWay = deliveries.begin('req_again_9', null)
    const origin = { protocol: 'messages', isStream: true, clientRequestId: null, bodyHash: hash() } as const
    const ledger = createLedger(createDirectLedgerWriter(db))
    await ledger.append({ ...template, requestId: 'req_again_9', atMs: clock.nowMs(), origin })
    await again(10)
    assert.deepEqual(await voided(), [])
    await underWay(true)
  })

  test('after a crash nothing is known of the last answers, and one that is asked for again is void', async () => {
    // Its time stands still, and nobody closes it.
    await charge(1, { by: open({ own: createManualClock() }) })
    await again(2)
    await again(3)
    // Others who share the database wait until they would have heard of it.
    if (isPostgres(db)) assert.deepEqual(await voided(), [])
    await decided()
    assert.deepEqual(await voided(), [1])
  })

  test('a void that waits when the service stops is found by the next one, however late that begins', async () => {
    await answer(1, true)
    await charge(2)
    await again(3)
    assert.deepEqual([await voided(), await waits()], [[], 1], 'the second is still on its way')
    await deliveries.close()
    clock.advance(3 * 60 * 60_000)
    // Somebody else writes, and has the old marks removed, before it is looked for what waits.
    const other = open({ own: createManualClock() })
    await other.begin('req_other', null)(true)
    await other.close()
    deliveries = open()
    await decided()
    assert.deepEqual(await voided(), [2])
  })

  test('an answer that arrives after its repetition stays charged, and one that is lost then is void', async () => {
    for (const [first, wasDelivered] of [
      [1, true],
      [3, false],
    ] as const) {
      const sent = Buffer.from(`{"number":${first}}`)
      const end = await charge(first, { sent })
      await again(first + 1, true, { sent })
      await end(wasDelivered)
      await decided()
    }
    assert.deepEqual(await voided(), [3])
  })

  test('the clock of a gateway decides nothing', async () => {
    if (!isPostgres(db)) return
    for (const [number, aheadMs] of [-120_000, 120_000, 25 * 60_000].entries()) {
      const sent = Buffer.from(`{"number":${number}}`)
      const own = { ...clock, nowMs: () => clock.nowMs() + aheadMs }
      const other = open({ own })
      const end = await charge(3 * number, { sent, by: other, atMs: own.nowMs() })
      await again(3 * number + 1, true, { sent })
      await end(true)
      await eventually(async () => (await mark(3 * number))?.state === 'arrived')
      await decided()
      assert.deepEqual(await voided(), [], 'it arrived, and its gateway has said so as soon as it could')
      clock.advance(28 * 60_000)
      await again(3 * number + 2, true, { sent })
      await decided()
      assert.deepEqual(await voided(), [], 'it seems to be young, and its mark is still there')
      await other.close()
    }
  })

  test('an answer that takes long to leave another gateway is on its way for as long as that says so', async () => {
    if (!isPostgres(db)) return
    const other = open()
    const end = await charge(1, { by: other })
    await again(2)
    const begunMs = clock.nowMs()
    while (clock.nowMs() < begunMs + 180_000) {
      // No further than a gateway that is there would be late, however slow this machine is.
      if (clock.nowMs() < ((await mark(1))?.at ?? begunMs) + 40_000) clock.advance(1_000)
    }
    assert.deepEqual([await voided(), await waits()], [[], 1])
    await end(false)
    await other.close()
    await decided()
    assert.deepEqual(await voided(), [1])
  })

  test('what became of answers is kept while the database is away', async () => {
    const away = (from: string, to: string) => sql`alter table ${sql.ref(from)} rename to ${sql.ref(to)}`.execute(db)
    await away('deliveries', 'deliveries_away')
    await answer(1, true)
    await answer(2, false)
    clock.advance(1_000)
    await again(3)
    await away('deliveries_away', 'deliveries')
    await eventually(async () => (await voided()).length > 0)
    assert.deepEqual([await voided(), await waits()], [[2], 0])
  })

  test('a repetition that its client breaks off, or that fails, voids nothing', async () => {
    await answer(1, false)
    await again(2, false)
    await answer(3, true, { isRepeated: true, outcome: 'failed' })
    assert.deepEqual(await voided(), [])
    await again(4)
    assert.deepEqual(await voided(), [1, 2], 'an answer has arrived at last')
  })

  test('hanging up at the last token of every answer leaves every answer charged', async () => {
    for (let number = 0; number < 40; number += 2) {
      const sent = Buffer.from(`{"number":${number}}`)
      await answer(number, false, { sent })
      await answer(number + 1, false, { sent, isRepeated: true })
    }
    assert.deepEqual(await sums(), [40, 0, once() * 40n])
  })

  test('a client cannot go on for nothing by breaking off each answer to one body but the last', async () => {
    for (const number of [1, 2, 3, 4]) await answer(number, false)
    await again(5)
    assert.deepEqual(await voided(), [3, 4])
    await answer(6, false)
    await again(7)
    assert.deepEqual(await voided(), [3, 4])
  })

  test('a key has no more charges voided in a day than the setting says, and the log names the key that asks for more', async () => {
    deliveries = open({ reversalsPerKeyDayMax: 2 })
    for (let number = 0; number < 8; number += 2) {
      const sent = Buffer.from(`{"number":${number}}`)
      await answer(number, false, { sent })
      if (number === 2) await rollUp(db)
      await answer(number + 1, true, { sent, isRepeated: true })
    }
    assert.deepEqual(await voided(), [0, 2])
    const told = { api_key: template.principal.apiKeyId, reversals_max: 2, kept: 1 }
    assert.deepEqual(warnings, [told, told])
    clock.advance(24 * 60 * 60_000)
    await answer(10, false)
    await again(11)
    assert.deepEqual(await voided(), [0, 2, 10])
  })

  test('gateways together void no more charges of a key in a day than the setting says', async () => {
    const gateways = Array.from({ length: isPostgres(db) ? 6 : 1 }, () => open({ reversalsPerKeyDayMax: 3 }))
    const number = (index: number) => 100 + 2 * index
    const sentBy = (index: number) => Buffer.from(`{"number":${index}}`)
    const all = Array.from({ length: 18 }, (_, index) => index)
    const ends = await Promise.all(
      all.map(async (index) => {
        const by = gateways[index % gateways.length] ?? deliveries
        await answer(number(index), false, { sent: sentBy(index), by })
        return charge(number(index) + 1, { sent: sentBy(index), by, isRepeated: true })
      }),
    )
    for (const gateway of gateways) await gateway.close()
    await Promise.all(ends.map((end) => end(true)))
    assert.equal((await voided()).length, 3)
  })

  test('many marks are written together, each once, and kept for as long as anybody asks', async () => {
    const marked = async () => (await db.selectFrom('deliveries').select('request_id').execute()).length
    const deliver = async (from: number, count: number) => {
      for (let number = from; number < from + count; number += 1)
        await deliveries.begin(`req_mark_${number}`, null)(true)
      await deliveries.close()
    }
    await deliver(0, 3_000)
    await deliver(2_999, 2)
    assert.equal(await marked(), 3_001)
    clock.advance(40 * 60_000 + 1)
    await deliver(4_000, 1)
    assert.equal(await marked(), 1_002, 'those that nobody asks for any more go, so many at a time')
    await deliver(4_001, 1)
    assert.equal(await marked(), 2)
  })

  test('a hash is of one key and one body', () => {
    assert.notEqual(hash(), deliveries.hashBody('key_other', body))
    assert.notEqual(hash(), deliveries.hashBody(template.principal.apiKeyId, Buffer.from('{}')))
  })
})
