// node bin/odyssey.cjs --run bench/ledger/dashboard-reads.ts [--rows N] [--database postgresql://…]
//
// Fills a new ledger with requests of a year, brings its sums up to date and asks the routes that the dashboard's pages
// read: the overview, the usage of a year by day, and the list of requests. SQLite in a temporary folder unless an empty
// PostgreSQL database is given.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { rollUp } from '../../src/billing/usage/roll-up.ts'
import type { OrganizationId } from '../../src/core/ids.ts'
import { isPostgres } from '../../src/db/is-postgres.ts'
import { openDatabase } from '../../src/db/open-database.ts'
import { openManagementService } from '../../test/harness/management-service.ts'
import { wholeNumber } from '../whole-number.ts'
import { dayMs, fillLedger } from './fill-ledger.ts'

const runs = 30
const yearMs = 365 * dayMs

const { values } = parseArgs({ options: { rows: { type: 'string' }, database: { type: 'string' } } })
const rows = wholeNumber('rows', values.rows, 1_000_000)
const home = mkdtempSync(join(tmpdir(), 'odyssey-dashboard-'))
const db = await openDatabase({ home, databaseUrl: values.database ?? null })
const service = await openManagementService(db)
try {
  await prepare()
  await askAll()
} finally {
  await service.close()
  rmSync(home, { recursive: true })
}

async function prepare(): Promise<void> {
  const startedMs = performance.now()
  const nowMs = service.clock.nowMs()
  await db
    .insertInto('organizations')
    .values({ id: 'org_1' as OrganizationId, name: 'Acme', created_at: nowMs - yearMs })
    .execute()
  await fillLedger(db, { firstNumber: 1, rows, firstMs: nowMs - yearMs, spanMs: yearMs })
  await rollUp(db, () => Promise.resolve())
  if (isPostgres(db)) await sql`analyze`.execute(db)
  console.log(`filled and summed ${rows} rows in ${((performance.now() - startedMs) / 1_000).toFixed(0)} s`)
}

async function askAll(): Promise<void> {
  const heads = ['p50 ms', 'p95 ms', 'max ms', 'bytes', 'sent'].map((head) => head.padStart(9)).join('')
  console.log(`\n${'route'.padEnd(44)}${heads}`)
  const nowMs = service.clock.nowMs()
  // As the page asks: from the beginning of a day of UTC to the end of another.
  const day = (ms: number) => new Date(Math.ceil(ms / dayMs) * dayMs).toISOString()
  const year = `from=${day(nowMs - yearMs)}&to=${day(nowMs)}`
  const zoned = `from=${day(nowMs - yearMs)}&to=${day(nowMs)}&zone=Europe/Berlin`
  await ask('overview', 'overview')
  await ask('usage of a year by day and model', `usage/series?${year}&bucket=day&groupBy=model`)
  await ask('usage of a year by day and key, 8 of 50', `usage/series?${year}&bucket=day&groupBy=key&top=8`)
  await ask('usage of a year by day of Berlin', `usage/series?${zoned}&bucket=day`)
  await ask('the latest 100 requests', 'ledger?limit=100')
  await ask('the latest 100 requests of a model', 'ledger?limit=100&model=hal-1.0')
  await ask('the latest 100 failed requests, of none', 'ledger?limit=100&outcome=failed')
}

async function ask(name: string, path: string): Promise<void> {
  const times: number[] = []
  let sent = 0
  const url = `/api/v1/organizations/org_1/${path}`
  const authorization = `Bearer ${service.key}`
  // What a browser that reads no compression is sent, for comparison.
  const bytes = Buffer.byteLength((await service.ask({ path: url, key: service.key })).text)
  for (let run = 0; run < runs; run += 1) {
    const startedMs = performance.now()
    const answer = await service.app.inject({ url, headers: { authorization, 'accept-encoding': 'br' } })
    times.push(performance.now() - startedMs)
    if (answer.statusCode !== 200) throw new Error(`${name}: ${answer.statusCode} ${answer.body}`)
    sent = answer.rawPayload.length
  }
  times.sort((one, other) => one - other)
  const cells = [0.5, 0.95, 1].map((part) => (times[Math.ceil(part * runs) - 1] ?? 0).toFixed(1))
  cells.push(String(bytes), String(sent))
  console.log(`${name.padEnd(44)}${cells.map((cell) => cell.padStart(9)).join('')}`)
}
