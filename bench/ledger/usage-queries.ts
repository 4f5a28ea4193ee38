// node bin/odyssey.cjs --run bench/ledger/usage-queries.ts [--rows N] [--database postgresql://… [--filled]]
//
// Fills a new ledger, rolls it up, asks what a dashboard asks and deletes old rows. SQLite in a
// temporary folder unless a PostgreSQL database is given, which has to be empty; one that was filled
// so before, on the same day, can be asked again.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { reconcile } from '../../src/billing/audits/reconcile.ts'
import { listLedger } from '../../src/billing/ledger/list-ledger.ts'
import { deleteOldRows } from '../../src/billing/ledger-jobs.ts'
import { queryUsage, spentSince } from '../../src/billing/usage/query-usage.ts'
import type { UsageQuery } from '../../src/billing/usage/select-usage.ts'
import { rollUp } from '../../src/billing/usage/roll-up.ts'
import type { OrganizationId } from '../../src/core/ids.ts'
import { isPostgres } from '../../src/db/is-postgres.ts'
import { openDatabase } from '../../src/db/open-database.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { wholeNumber } from '../whole-number.ts'
import { dayMs, days, fillLedger, organizationCount } from './fill-ledger.ts'

const runs = 100
const freshRows = 5_000

const { values } = parseArgs({
  options: { rows: { type: 'string' }, database: { type: 'string' }, filled: { type: 'boolean', default: false } },
})
const rows = wholeNumber('rows', values.rows, 1_000_000)
const home = mkdtempSync(join(tmpdir(), 'odyssey-ledger-'))
const nowMs = Date.now() - (Date.now() % dayMs)
const firstMs = nowMs - days * dayMs

const db = await openDatabase({ home, databaseUrl: values.database ?? null })
try {
  if (!values.filled) await prepare()
  await askAll()
  if (!values.filled) await deleteOld()
} finally {
  await db.destroy()
  rmSync(home, { recursive: true })
}

async function prepare(): Promise<void> {
  report('filled', rows, await secondsOf(() => fillLedger(db, { firstNumber: 1, rows, firstMs, spanMs: days * dayMs })))
  const batches = await batchesOf((pause) => rollUp(db, { pause }))
  report('rolled up', rows, batches.seconds)
  console.log(`  a batch took ${batches.summary}`)
  report('reconciled', rows, await secondsOf(() => reconcile({ db, clock: systemClock }, nextTurn)))
  // What came since the last roll-up is read from the ledger itself.
  await fillLedger(db, { firstNumber: rows + 1, rows: freshRows, firstMs: nowMs, spanMs: freshRows })
  // PostgreSQL does so by itself within a minute or so; without it the first queries are planned for an empty table.
  if (isPostgres(db)) await sql`analyze`.execute(db)
}

async function askAll(): Promise<void> {
  console.log(`\n${'query'.padEnd(44)}${['p50 ms', 'p95 ms', 'max ms'].map((head) => head.padStart(9)).join('')}`)
  const usage = (query: Partial<UsageQuery>) => (organizationId: OrganizationId) =>
    queryUsage(db, {
      organizationId,
      fromMs: nowMs - 30 * dayMs,
      toMs: null,
      bucket: 'day',
      groupBy: null,
      limit: 1_000,
      cursor: null,
      ...query,
    })
  await ask('30 days, by day', usage({}))
  await ask('30 days, by day and model', usage({ groupBy: 'model' }))
  await ask('30 days, by day and key', usage({ groupBy: 'key' }))
  await ask('90 days, by key', usage({ fromMs: firstMs, bucket: 'whole', groupBy: 'key' }))
  await ask('90 days, by project', usage({ fromMs: firstMs, bucket: 'whole', groupBy: 'project' }))
  await ask('7 days, by hour', usage({ fromMs: nowMs - 7 * dayMs, bucket: 'hour' }))
  await ask('24 hours, by hour and key', usage({ fromMs: nowMs - dayMs, bucket: 'hour', groupBy: 'key' }))
  await ask('spent this month, one organization', (organizationId) =>
    spentSince(db, { organizationId }, nowMs - 30 * dayMs),
  )
  await ask('the latest 100 requests', (organizationId) =>
    listLedger(db, { kind: 'operator' }, { organizationId, limit: 100, after: null }),
  )
}

async function ask(name: string, query: (organizationId: OrganizationId) => Promise<unknown>): Promise<void> {
  const times: number[] = []
  for (let run = 0; run < runs; run++) {
    // Every second time the organization that has half of all requests.
    const organization: OrganizationId = `org_${run % 2 === 0 ? 1 : 1 + (run % organizationCount)}`
    const startedMs = performance.now()
    await query(organization)
    times.push(performance.now() - startedMs)
  }
  times.sort((a, b) => a - b)
  const cells = [0.5, 0.95, 1].map((part) => (times[Math.ceil(part * times.length) - 1] ?? 0).toFixed(1).padStart(9))
  console.log(`${name.padEnd(44)}${cells.join('')}`)
}

async function deleteOld(): Promise<void> {
  let deleted = 0
  const batches = await batchesOf(async (pause) => {
    deleted = await deleteOldRows(db, { nowMs, daysMax: days - 5, pause })
  })
  report('\ndeleted', deleted, batches.seconds)
  console.log(`  a batch took ${batches.summary}`)
}

/** Runs work that pauses between its batches, and says how long they were. */
async function batchesOf(work: (pause: () => Promise<void>) => Promise<void>) {
  const times: number[] = []
  const startedMs = performance.now()
  let batchMs = startedMs
  await work(async () => {
    times.push(performance.now() - batchMs)
    await nextTurn()
    batchMs = performance.now()
  })
  times.sort((a, b) => a - b)
  const at = (part: number) => (times[Math.ceil(part * times.length) - 1] ?? 0).toFixed(1)
  const summary = `${at(0.5)} ms (p50), ${at(0.95)} ms (p95), ${at(1)} ms (longest)`
  return { seconds: (performance.now() - startedMs) / 1_000, summary }
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return (performance.now() - startedMs) / 1_000
}

function report(what: string, count: number, seconds: number): void {
  console.log(`${what} ${count} rows in ${seconds.toFixed(1)} s (${Math.round(count / seconds)} a second)`)
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
