import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { CompiledQuery } from 'kysely'
import { createRandom } from '../../../test/campaigns/random.ts'
import { statementsOf } from '../../../test/harness/databases/count-statements.ts'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { randomEntry } from '../../../test/harness/databases/ledger-entries.ts'
import type { Database } from '../../db/database.ts'
import { isPostgres } from '../../db/is-postgres.ts'
import { createDirectLedgerWriter } from '../ledger/writer/insert-rows.ts'
import { createLedger } from '../ledger/ledger.ts'
import type { LedgerEntry } from '../ledger/ledger-entry.ts'
import type { Price } from '../prices/price.ts'
import { createPriceBook } from '../prices/price-book.ts'
import { queryUsage, spentSince, type UsageRow } from './query-usage.ts'
import type { UsageQuery } from './select-usage.ts'
import { rollUp } from './roll-up.ts'
import { InvalidCursor, makeCursor } from './usage-cursor.ts'
import { readSeries } from './usage-series.ts'
import { bucketStarts } from './zone-buckets.ts'
import { dayMs, hourMs } from './usage-columns.ts'

const day = Date.UTC(2027, 2, 1)
const rates = { input: 3, cacheRead: 1, cacheWriteShort: 4, cacheWriteLong: 6, output: 15 }
const scaled = (factor: number) =>
  Object.fromEntries(Object.entries(rates).map(([name, rate]) => [name, rate * factor])) as typeof rates
const priced = (model: string, effectiveAtMs: number, factor: number): Price => ({
  id: `price_${model}_${effectiveAtMs}`,
  organizationId: null,
  model,
  effectiveAtMs,
  fault: null,
  currency: 'USD',
  rates: scaled(factor),
  createdAtMs: effectiveAtMs,
})
/** One model has a price that changes at midnight, one has no price. */
const prices = createPriceBook([
  priced('clarke-1.0', 0, 1_000_003),
  priced('clarke-1.0', day + dayMs, 2_000_001),
  priced('hal-1.0', 0, 5_000_009),
])
const all = { bucket: 'whole', groupBy: null, limit: 10_000, cursor: null, fromMs: day, toMs: day + 3 * dayMs } as const

onEachDatabase((database) => {
  let db: Database
  let entries: LedgerEntry[]
  beforeEach(async () => {
    db = await database.open()
    const random = createRandom(7)
    const options = { random, prices, fromMs: day, toMs: day + 3 * dayMs }
    entries = Array.from({ length: 1_600 }, (_, number) => randomEntry(number, options))
  })
  afterEach(() => db.destroy())

  const append = async (some: readonly LedgerEntry[]) => {
    const ledger = createLedger(createDirectLedgerWriter(db))
    await Promise.all(some.map((entry) => ledger.append(entry)))
  }
  const query = async (changes: Partial<UsageQuery> = {}) =>
    (await queryUsage(db, { organizationId: 'org_1', ...all, ...changes })).rows

  /** The same sums, made from the entries themselves. */
  function expected(of: (entry: LedgerEntry) => string | null): Map<string, readonly [number, number, bigint]> {
    const sums = new Map<string, readonly [number, number, bigint]>()
    for (const entry of entries) {
      const group = of(entry)
      if (group === null || entry.principal.organizationId !== 'org_1') continue
      const [requests, output, cost] = sums.get(group) ?? [0, 0, 0n]
      const costPicos = cost + (entry.charge?.costPicos ?? 0n)
      sums.set(group, [requests + 1, output + entry.usage.output, costPicos])
    }
    return sums
  }
  const found = (rows: readonly UsageRow[]) =>
    new Map(
      rows.map((row) => [
        [row.startMs, row.group].filter((part) => part !== null).join(' '),
        [row.requests, row.usage.output, row.costPicos],
      ]),
    )

  test('sums are those of the rows, whatever of them has been rolled up', async () => {
    await append(entries.slice(0, 1_100))
    await rollUp(db)
    await append(entries.slice(1_100))
    const check = async () => {
      assert.deepEqual(
        found(await query()),
        expected(() => ''),
      )
      const byDay = expected(({ atMs, model }) => `${atMs - (atMs % dayMs)} ${model}`)
      assert.deepEqual(found(await query({ bucket: 'day', groupBy: 'model' })), byDay)
      const byHour = expected(({ atMs, principal }) => `${atMs - (atMs % hourMs)} ${principal.apiKeyId}`)
      assert.deepEqual(found(await query({ bucket: 'hour', groupBy: 'key' })), byHour)
      const project = 'proj_1_0'
      const inProject = expected(({ atMs, principal }) =>
        principal.projectId === project && atMs >= day + 5 * hourMs && atMs < day + 30 * hourMs ? '' : null,
      )
      const part = { projectIds: [project], fromMs: day + 5 * hourMs, toMs: day + 30 * hourMs } as const
      assert.deepEqual(found(await query(part)), inProject)
    }
    await check()
    await rollUp(db)
    await rollUp(db)
    await check()
  })

  test('days and weeks of a zone have the sums of their own hours, wherever they begin', async () => {
    await append(entries.slice(0, 1_100))
    await rollUp(db)
    await append(entries.slice(1_100))
    const bounds = [
      [day, day + 3 * dayMs],
      [day + 5 * hourMs, day + 3 * dayMs - 2 * hourMs],
    ] as const
    for (const zone of ['UTC', 'Europe/Berlin', 'America/New_York', 'Pacific/Auckland']) {
      for (const bucket of ['day', 'week'] as const) {
        for (const [fromMs, toMs] of bounds) {
          const starts = bucketStarts({ bucket, zone, fromMs, toMs })
          const asked = { organizationId: 'org_1', fromMs, toMs, bucket, zone, groupBy: 'model', top: 9 } as const
          const { groups } = await readSeries(db, { kind: 'operator' }, asked)
          const sums = groups.flatMap(({ id, buckets }) =>
            buckets.flatMap(({ requests, usage, costPicos }, index) =>
              requests === 0 ? [] : [[`${starts[index]} ${id}`, [requests, usage.output, costPicos]] as const],
            ),
          )
          const byBucket = expected(({ atMs, model }) => {
            const start = starts.findLast((startMs) => startMs <= atMs)
            return start === undefined || atMs >= toMs ? null : `${start} ${model}`
          })
          assert.deepEqual(new Map(sums), byBucket, `${bucket} of ${zone} from ${new Date(fromMs).toISOString()}`)
        }
      }
    }
  })

  test('two that roll up at once count every row once', async () => {
    await append(entries)
    await Promise.all([rollUp(db), rollUp(db), rollUp(db)])
    assert.deepEqual(
      found(await query()),
      expected(() => ''),
    )
  })

  test('an interrupted roll-up goes on where it stopped', async () => {
    await append(entries)
    await assert.rejects(rollUp(db, { pause: () => Promise.reject(new Error('cut off')) }), /cut off/)
    assert.deepEqual(
      found(await query()),
      expected(() => ''),
    )
    await rollUp(db)
    assert.deepEqual(
      found(await query()),
      expected(() => ''),
    )
  })

  test('an invoice is the sum of its lines, and a price that changes at midnight splits them by their admission', async () => {
    await append(entries)
    await rollUp(db)
    const [invoice] = await query()
    const lines = await query({ bucket: 'hour', groupBy: 'key' })
    assert.equal(
      lines.reduce((sum, { costPicos }) => sum + costPicos, 0n),
      invoice?.costPicos,
    )
    const rows = await db.selectFrom('ledger').selectAll().where('model', '=', 'clarke-1.0').execute()
    const change = day + dayMs
    for (const { admitted_at: admittedAt, price_id: priceId } of rows) {
      assert.equal(priceId, `price_clarke-1.0_${(admittedAt ?? 0) < change ? 0 : change}`)
    }
    assert.ok(
      rows.some((row) => (row.admitted_at ?? 0) < change && row.at >= change),
      'some run over midnight',
    )
  })

  test('requests without a price are counted apart', async () => {
    await append(entries)
    const rows = await query({ groupBy: 'model' })
    const unpriced = new Map(rows.map((row) => [row.group, row.unpriced === row.requests]))
    assert.deepEqual(
      [...unpriced],
      [
        ['clarke-1.0', false],
        ['hal-1.0', false],
        ['tycho-1.0', true],
      ],
    )
  })

  test('pages follow each other without a gap and without a repetition', async () => {
    await append(entries)
    await rollUp(db)
    const whole = await query({ bucket: 'day', groupBy: 'key' })
    const pages: UsageRow[] = []
    let cursor: string | null = null
    do {
      const page = await queryUsage(db, {
        organizationId: 'org_1',
        ...all,
        bucket: 'day',
        groupBy: 'key',
        limit: 2,
        cursor,
      })
      assert.ok(page.rows.length <= 2)
      pages.push(...page.rows)
      cursor = page.nextCursor
    } while (cursor !== null)
    assert.deepEqual(pages, whole)
    await assert.rejects(query({ cursor: 'none' }), InvalidCursor)
    const unknown = makeCursor({ bucket: day, grouped: '\0' })
    await assert.rejects(
      query({ bucket: 'day', groupBy: 'key', cursor: unknown }),
      InvalidCursor,
      'no character of PostgreSQL',
    )
    const daily = makeCursor({ bucket: day, grouped: '' })
    await assert.rejects(query({ groupBy: 'key', cursor: daily }), InvalidCursor, 'of another question')
  })

  test('what is not rolled up yet is found by its place in the ledger, and not by an index of all of it', async () => {
    if (isPostgres(db)) return
    const filters = [{}, { projectIds: ['proj_1'] }, { apiKeyIds: ['key_1'] }, { models: ['hal-1.0'] }] as const
    for (const filter of filters) {
      const statements = await statementsOf(() => query(filter))
      const [statement = ''] = statements.filter((text) => /from ledger\s/.test(text))
      const { rows } = await db.executeQuery<{ detail: string }>(CompiledQuery.raw(`explain query plan ${statement}`))
      const ways = rows.map(({ detail }) => detail).filter((detail) => /^(SEARCH|SCAN) ledger\b/.test(detail))
      assert.deepEqual(
        ways.map((way) => way.replace(/ \(.*/, '')),
        ['SEARCH ledger USING INTEGER PRIMARY KEY'],
      )
    }
  })

  test('another organization sees nothing of it', async () => {
    await append(entries.filter(({ principal }) => principal.organizationId === 'org_1'))
    const check = async () => {
      assert.deepEqual(await query({ organizationId: 'org_2', groupBy: 'key' }), [])
      assert.equal((await spentSince(db, { organizationId: 'org_2' }, day)).requests, 0)
    }
    await check()
    await rollUp(db)
    await check()
  })

  test('the spending of a key since a time includes the last ledger row', async () => {
    await append(entries)
    const apiKeyIds = ['key_1_2'] as const
    const since = day + dayMs + hourMs
    const sum = expected(({ atMs, principal }) => (principal.apiKeyId === 'key_1_2' && atMs >= since ? '' : null))
    const spent = await spentSince(db, { organizationId: 'org_1', apiKeyIds }, since)
    assert.deepEqual([spent.requests, spent.usage.output, spent.costPicos], sum.get(''))
    assert.equal((await spentSince(db, { organizationId: 'org_1', apiKeyIds: [] }, since)).costPicos, 0n)
    await assert.rejects(spentSince(db, { organizationId: 'org_1' }, since + 1), RangeError)
  })

  test('the database refuses to change or delete a row of the ledger', async () => {
    await append(entries.slice(0, 3))
    await assert.rejects(
      db
        .updateTable('ledger')
        .set({ model: 'x' } as never)
        .execute(),
      /append-only/,
    )
    await assert.rejects(db.deleteFrom('ledger').execute(), /append-only/)
    await assert.rejects(db.deleteFrom('ledger').where('sequence', '=', 1).execute(), /append-only/)
    assert.equal((await db.selectFrom('ledger').select('sequence').execute()).length, 3)
  })
})
