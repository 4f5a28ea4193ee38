// The ledger is filled with random usages at random prices by the product's own code, and every sum that it
// can tell is compared with one that was counted beside it: they are equal to the unit, or it is a failure.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deepEqual, equal } from 'node:assert/strict'
import { startPostgresServer } from '../../../scripts/postgres/start-server.ts'
import { reconcile } from '../../../src/billing/audits/reconcile.ts'
import { verifyLedger } from '../../../src/billing/audits/verify-ledger.ts'
import { toCharge, toReversal } from '../../../src/billing/ledger/ledger.ts'
import type { NewLedgerRow } from '../../../src/billing/ledger/writer/ledger-writer.ts'
import { fromCostColumns } from '../../../src/billing/ledger/cost-columns.ts'
import type { Price, Rates } from '../../../src/billing/prices/price.ts'
import { createPriceBook } from '../../../src/billing/prices/price-book.ts'
import { readPrices, setPrice } from '../../../src/billing/prices/prices.ts'
import { queryUsage, type UsageRow } from '../../../src/billing/usage/query-usage.ts'
import type { UsageQuery } from '../../../src/billing/usage/select-usage.ts'
import { rollUp } from '../../../src/billing/usage/roll-up.ts'
import { dayMs } from '../../../src/billing/usage/usage-columns.ts'
import { toMicrosText } from '../../../src/core/money.ts'
import type { Database } from '../../../src/db/database.ts'
import type { DatabaseLocation } from '../../../src/db/database-location.ts'
import { openSecrets } from '../../../src/service/joins/open-secrets.ts'
import { openDatabase } from '../../../src/db/open-database.ts'
import { insertRows } from '../../../src/billing/ledger/writer/insert-rows.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { randomEntry } from '../../harness/databases/ledger-entries.ts'
import { createManualClock } from '../../harness/manual-clock.ts'
import { Failures, type CampaignOptions, type CampaignResult } from '../campaign.ts'
import { createRandom, type Random } from '../random.ts'
import { playBudgets } from './budgets.ts'
import { expectedCost, ExpectedSums, zeroSums, type Sums } from './expected-sums.ts'
import { exportedColumns, sumExport } from './exported-sums.ts'
import { playStops } from './stops.ts'

const firstMs = Date.UTC(2026, 8, 28)
const days = 40
const organizations = 4
const keys = 5
const rowsPerStatement = 500
const statementsPerTransaction = 20
/** This number of rows is in no rollup yet when the sums are asked for: both sources count. */
const freshShare = 0.05
const groupsPerPage = 700
/** For so many rows that are only written, one request is made while budgets are set. */
const requestsPerBudgeted = 100
/** For so many, one real request is made of a service that is stopped and killed meanwhile, up to so many. */
const requestsPerStopped = 30
const mostStopped = 5_000
const requestsPerStop = 100
const [leastStops, mostStops] = [1, 28]

type Course = {
  readonly db: Database
  readonly location: DatabaseLocation
  readonly failures: Failures
  readonly expected: ExpectedSums
  log(line: string): void
}

export async function runExactness(options: CampaignOptions): Promise<CampaignResult> {
  const { database = 'sqlite' } = options
  const server = database === 'postgres' ? await startPostgresServer() : null
  const home = mkdtempSync(join(tmpdir(), 'odyssey-exactness-'))
  const location = { home, databaseUrl: server?.url ?? null }
  try {
    const db = await openDatabase(location)
    // The commands that print the sums refuse a database whose secret is missing.
    await openSecrets(home, { db, clock: systemClock })
    const course = { db, location, failures: new Failures(), expected: new ExpectedSums(), log: options.log }
    await fill(course, options)
    await compareAll(course)
    const requestsPaid = Math.ceil(options.count / requestsPerBudgeted)
    const isShared = database === 'postgres'
    const paid = { db, isShared, seed: options.seed, count: requestsPaid, failures: course.failures }
    const budgetsSet = await playBudgets(paid)
    options.log(`${budgetsSet} times a budget was set while ${requestsPaid} requests ran`)
    await db.destroy()
    const stopped = await playStopsOf(course, options)
    const { expected, failures } = course
    const { requests, reversed, unpriced } = expected.whole
    const figures = { requests, reversed, unpriced, 'cost (micro-units)': toMicrosText(expected.whole.cost_picos) }
    const shown = Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, String(value)]))
    return failures.toResult({
      rows: expected.rows,
      ...shown,
      'requests under budgets': requestsPaid,
      'budgets set': budgetsSet,
      ...stopped,
    })
  } finally {
    rmSync(home, { recursive: true, force: true })
    await server?.stop()
  }
}

/** On a database of its own, since a service would find none of the keys of the rows that were only written. */
async function playStopsOf({ failures, log }: Course, { seed, count, database }: CampaignOptions) {
  const server = database === 'postgres' ? await startPostgresServer() : null
  try {
    const requests = Math.min(mostStopped, Math.ceil(count / requestsPerStopped))
    const stops = Math.max(leastStops, Math.min(mostStops, Math.ceil(requests / requestsPerStop)))
    return await playStops({ databaseUrl: server?.url ?? null, seed, count: requests, stops, failures, log })
  } finally {
    await server?.stop()
  }
}

async function fill(course: Course, { seed, count }: CampaignOptions): Promise<void> {
  const random = createRandom(seed)
  const prices = await makePrices(course.db, random)
  const book = createPriceBook(prices)
  const rates = new Map(prices.map((price): [string, Rates | null] => [price.id, price.rates]))
  const range = { fromMs: firstMs, toMs: firstMs + days * dayMs, organizations, keys }
  const perTransaction = rowsPerStatement * statementsPerTransaction
  let isRolledUp = false
  for (let made = 0; made < count; made += perTransaction) {
    if (!isRolledUp && made >= count * (1 - freshShare)) {
      isRolledUp = true
      await rollUp(course.db)
    }
    const rows = Array.from({ length: Math.min(perTransaction, count - made) }, (_, index) =>
      rowsOf(made + index, { random, book, range }),
    ).flat()
    for (const row of rows) checkRow(course, row, rates)
    await course.db.transaction().execute(async (transaction) => {
      for (let start = 0; start < rows.length; start += rowsPerStatement) {
        await insertRows(transaction, rows.slice(start, start + rowsPerStatement))
      }
    })
    if ((made / perTransaction) % 10 === 9) course.log(`${made + perTransaction} of ${count} written`)
  }
}

type Making = {
  readonly random: Random
  readonly book: ReturnType<typeof createPriceBook>
  readonly range: {
    readonly fromMs: number
    readonly toMs: number
    readonly organizations: number
    readonly keys: number
  }
}

/** A charge, and now and then the reversal of it. */
function rowsOf(number: number, { random, book, range }: Making): NewLedgerRow[] {
  const charge = toCharge(randomEntry(number, { random, prices: book, ...range }))
  if (!random.chance(0.02)) return [charge]
  return [charge, toReversal(charge, Math.min(range.toMs - 1, charge.at + random.integer(0, 600_000)))]
}

/** Prices at which nearly every cost has a part below a micro-unit, some of them high and one of them ended. */
async function makePrices(db: Database, random: Random): Promise<Price[]> {
  const clock = createManualClock(firstMs - 10 * dayMs)
  for (const id of ['org_1', 'org_2'] as const) {
    await db.insertInto('organizations').values({ id, name: id, created_at: firstMs }).execute()
  }
  const rate = (most: number) => random.integer(0, most)
  for (const model of ['hal-1.0', 'clarke-1.0']) {
    for (const organizationId of [null, 'org_1', 'org_2'] as const) {
      for (const day of [-9, random.integer(1, 15), random.integer(16, 35)]) {
        const most = organizationId === 'org_2' ? 900_000_000_000 : 20_000_003
        const input = rate(most)
        const others = { cacheWriteShort: rate(most), cacheWriteLong: rate(most), output: rate(most) }
        const rates = { input, cacheRead: rate(input), ...others }
        const isEnd = day > 15 && organizationId === 'org_1'
        const price = { organizationId, model, currency: 'USD', effectiveAtMs: firstMs + day * dayMs }
        await setPrice({ db, clock, currency: 'USD' }, { kind: 'operator' }, { ...price, rates: isEnd ? null : rates })
      }
    }
  }
  return readPrices(db, 'USD')
}

function checkRow({ failures, expected }: Course, row: NewLedgerRow, rates: ReadonlyMap<string, Rates | null>): void {
  expected.add(row)
  if (row.kind !== 'charge' || row.price_id === null) return
  const found = rates.get(row.price_id)
  const wanted = row.outcome === 'failed' || !found ? 0n : expectedCost(found, row)
  if (fromCostColumns(row) !== wanted) failures.add('a cost is not what it should be', row.request_id)
}

async function compareAll(course: Course): Promise<void> {
  const { db, location, failures, expected, log } = course
  await compareUsage(course, 'before all is rolled up')
  await rollUp(db)
  await compareUsage(course, 'after')
  log('sums by organization, key, project, model, hour and day compared')
  const { differences } = await reconcile({ db, clock: systemClock }, () => Promise.resolve())
  failures.check('reconciliation', () => deepEqual(differences, []))
  const verdict = await verifyLedger({ db, currency: 'USD' }, ({ subject, fault }) => failures.add(fault, subject))
  failures.check('bill verify', () => {
    deepEqual([verdict.rows, verdict.costPicos, verdict.faults], [expected.rows, expected.whole.cost_picos, 0])
  })
  log('verified')
  for (const form of ['csv', 'json'] as const) {
    const { lines, ...sums } = await sumExport(location, form)
    failures.check(`${form} export`, () => {
      equal(lines, expected.rows)
      for (const column of exportedColumns) equal(sums[column], expected.whole[column], column)
    })
    log(`${form} exported`)
  }
}

const groupings = {
  whole: { bucket: 'whole', groupBy: null },
  key: { bucket: 'whole', groupBy: 'key' },
  project: { bucket: 'whole', groupBy: 'project' },
  model: { bucket: 'whole', groupBy: 'model' },
  hour: { bucket: 'hour', groupBy: null },
  day: { bucket: 'day', groupBy: null },
} as const satisfies Readonly<Record<string, Pick<UsageQuery, 'bucket' | 'groupBy'>>>

async function compareUsage({ db, failures, expected }: Course, when: string): Promise<void> {
  for (let number = 1; number <= organizations; number += 1) {
    const organizationId = `org_${number}` as const
    for (const [name, grouping] of Object.entries(groupings)) {
      const wanted = expected.of(organizationId, name)
      const found = await readUsage(db, {
        ...grouping,
        organizationId,
        fromMs: firstMs,
        toMs: null,
        limit: groupsPerPage,
      })
      failures.check(`${when}, ${organizationId} by ${name}`, () => {
        deepEqual([...found.keys()].toSorted(), [...wanted.keys()].toSorted())
        for (const [id, sums] of found) deepEqual(sums, wanted.get(id) ?? zeroSums(), id)
      })
    }
  }
}

async function readUsage(db: Database, query: Omit<UsageQuery, 'cursor'>): Promise<Map<string, Sums>> {
  const found = new Map<string, Sums>()
  let cursor: string | null = null
  do {
    const page = await queryUsage(db, { ...query, cursor })
    for (const row of page.rows) found.set(row.group ?? String(row.startMs ?? ''), toSums(row))
    cursor = page.nextCursor
  } while (cursor !== null)
  return found
}

function toSums({ usage, costPicos, ...row }: UsageRow): Sums {
  const { requests, finished, aborted, failed, reversed, unpriced } = row
  const counts = { requests, finished, aborted, failed, reversed, unpriced }
  const tokens = {
    input_uncached: usage.inputUncached,
    input_cache_read: usage.inputCacheRead,
    input_cache_write: usage.inputCacheWrite,
    input_cache_write_long: usage.inputCacheWriteLong,
    output: usage.output,
    output_thinking: usage.outputThinking,
  }
  const whole = Object.entries({ ...counts, ...tokens }).map(([name, value]) => [name, BigInt(value)])
  return { ...(Object.fromEntries(whole) as Omit<Sums, 'cost_picos'>), cost_picos: costPicos }
}
