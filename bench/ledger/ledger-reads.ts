// node bin/odyssey.cjs --run bench/ledger/ledger-reads.ts [--rows N] [--database postgresql://…]
// node bin/odyssey.cjs --run bench/ledger/ledger-reads.ts --rows N --folder FOLDER [--database …] --fill   only fills it
// node bin/odyssey.cjs --run bench/ledger/ledger-reads.ts --rows N --folder FOLDER [--database …]          reads it
//
// Fills a new ledger and asks for pages of it, narrowed to a key, a project, a model, an outcome and to what is not
// there, and for the charge that a repeated body would void. SQLite in a temporary folder unless an empty PostgreSQL
// database is given. A ledger in a folder of its own is kept: it can be filled in pieces, and read again.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { createDeliveries } from '../../src/billing/deliveries/deliveries.ts'
import { findCharges } from '../../src/billing/deliveries/void-undelivered.ts'
import type { LedgerFilter } from '../../src/billing/ledger/ledger-filter.ts'
import { readMonthSums } from '../../src/billing/invoices/month-sums.ts'
import { listLedger } from '../../src/billing/ledger/list-ledger.ts'
import { isPostgres } from '../../src/db/is-postgres.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { wholeNumber } from '../whole-number.ts'
import { ask, askMeanwhile, printHead } from './ask.ts'
import { fillLedger } from './fill-ledger.ts'
import { fillKeptLedger, openToFill } from './kept-ledger.ts'

const runs = 200
const scans = 5
/** Within the ten minutes in which a repeated body is looked for, all of them. */
const spanMs = 9 * 60_000

const type = 'string'
const { values } = parseArgs({
  options: { rows: { type }, database: { type }, folder: { type }, fill: { type: 'boolean' } },
})
const rows = wholeNumber('rows', values.rows, 1_000_000)
const { folder } = values
if (folder !== undefined) mkdirSync(folder, { recursive: true })
const home = folder ?? mkdtempSync(join(tmpdir(), 'odyssey-ledger-'))
const db = await openToFill({ home, databaseUrl: values.database ?? null })
try {
  const firstMs = await fill()
  if (values.fill !== true) await askAll(firstMs + spanMs)
} finally {
  await db.destroy()
  if (folder === undefined) rmSync(home, { recursive: true })
}

/** Returns the time of the first request. */
async function fill(): Promise<number> {
  const startedMs = performance.now()
  let firstMs = Date.now() - spanMs
  if (folder === undefined) await fillLedger(db, { firstNumber: 1, rows, firstMs, spanMs })
  else firstMs = await fillKeptLedger(db, rows, spanMs)
  if (folder !== undefined && values.fill !== true) return firstMs
  const seconds = (performance.now() - startedMs) / 1_000
  console.log(`filled ${rows} rows in ${seconds.toFixed(1)} s (${Math.round(rows / seconds)} a second)`)
  if (isPostgres(db)) await sql`analyze ledger`.execute(db)
  return firstMs
}

async function askAll(nowMs: number): Promise<void> {
  console.log()
  printHead('page of 100 rows')
  const page = (filter: Partial<LedgerFilter>) => () =>
    listLedger(db, { kind: 'operator' }, { organizationId: 'org_1', limit: 100, after: null, ...filter })
  await ask('plain', runs, page({}))
  await ask('of a key', runs, page({ apiKeyId: 'key_1_7' }))
  await ask('of a key without requests', runs, page({ apiKeyId: 'key_none' }))
  await ask('of a project', runs, page({ projectIds: ['proj_1_3'] }))
  await ask('of three projects', runs, page({ projectIds: ['proj_1_1', 'proj_1_2', 'proj_1_3'] }))
  await ask('of a model', runs, page({ model: 'hal-1.0' }))
  await ask('of a model that nobody asked', runs, page({ model: 'none' }))
  await ask('aborted', runs, page({ outcome: 'aborted' }))
  await ask('failed, of which there are none', runs, page({ outcome: 'failed' }))
  await ask('failed, of a key', runs, page({ outcome: 'failed', apiKeyId: 'key_1_7' }))
  await ask(
    'of a request by its whole id, of which there is none',
    runs,
    page({ requestIdStart: `req_${'0'.repeat(24)}` }),
  )
  await askRepeated(nowMs)
  // No index is for what else a page can be narrowed to: the slowest is what nothing matches.
  await ask('of a client’s id that nobody gave', scans, page({ clientRequestId: 'none' }))
  await ask('of a reason that nothing ended by', scans, page({ reason: 'none' }))
  await askMeanwhile('plain, while a reason is looked for', runs, {
    query: page({}),
    readAll: page({ reason: 'none' }),
  })
  const month = new Date(nowMs).toISOString().slice(0, 'yyyy-mm'.length)
  const addUp = () => readMonthSums(db, { organizationId: 'org_1', month })
  await ask('an invoice’s sums of the month', scans, addUp)
  await askMeanwhile('plain, while an invoice’s sums are added up', runs, { query: page({}), readAll: addUp })
}

/** As if the last request had just ended, and were the repetition of a body. */
async function askRepeated(nowMs: number): Promise<void> {
  const log = createLog('silent')
  const clock = { ...systemClock, nowMs: () => nowMs }
  const options = { db, clock, log, hashKey: new Uint8Array(32), reversalsPerKeyDayMax: 10 }
  const deliveries = createDeliveries({ ...options, readNow: () => Promise.resolve(nowMs) })
  const last = await db
    .selectFrom('ledger')
    .selectAll()
    .where('organization_id', '=', 'org_1')
    .where('outcome', '=', 'finished')
    .orderBy('at', 'desc')
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  const { request_id: requestId, organization_id: organizationId, project_id: projectId, api_key_id: apiKeyId } = last
  const principal = { kind: 'api-key', apiKeyId, organizationId, projectId } as const
  const body_hash = last.body_hash ?? ''
  const repetition = {
    request_id: requestId,
    organization_id: organizationId,
    api_key_id: apiKeyId,
    body_hash,
    at: nowMs,
  }
  await ask('the charges for a body', runs, () => findCharges(db, repetition))
  await ask('a repetition noted and decided about', runs, () =>
    deliveries.begin(requestId, { principal, bodyHash: body_hash })(true),
  )
  await deliveries.close()
}
