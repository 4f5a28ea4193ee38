// node bin/odyssey.cjs --run bench/ledger/dashboard-reads.ts [--rows N] [--rounds N] [--database postgresql://…]
//
// Asks what the pages of the dashboard ask of the management API, over a ledger of a year, and says how long each answer
// takes and how large it is. There is no socket between: the route, its queries and its JSON are what is measured.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { rollUp } from '../../src/billing/usage/roll-up.ts'
import { openDatabase } from '../../src/db/open-database.ts'
import { openManagementService } from '../../test/harness/management-service.ts'
import { wholeNumber } from '../whole-number.ts'
import { dayMs, fillLedger, keysOfOrganization, organizationCount } from './fill-ledger.ts'

const { values } = parseArgs({
  options: { rows: { type: 'string' }, rounds: { type: 'string' }, database: { type: 'string' } },
})
const rows = wholeNumber('rows', values.rows, 1_000_000)
const rounds = wholeNumber('rounds', values.rounds, 100)
const yearMs = 365 * dayMs
const home = mkdtempSync(join(tmpdir(), 'odyssey-dashboard-reads-'))
const db = await openDatabase({ home, databaseUrl: values.database ?? null })
const service = await openManagementService(db)
try {
  await prepare()
  await measure()
} finally {
  await service.close()
  rmSync(home, { recursive: true })
}

async function prepare(): Promise<void> {
  const nowMs = Date.now()
  service.clock.advance(nowMs - service.clock.nowMs())
  const created_at = nowMs - yearMs
  // A row as the service makes them, with another name.
  const made = await db.selectFrom('organizations').selectAll().executeTakeFirstOrThrow()
  for (let number = 1; number <= organizationCount; number++) {
    await db
      .insertInto('organizations')
      .values({ ...made, id: `org_${number}`, name: `Organization ${number}`, created_at })
      .execute()
  }
  await fillLedger(db, { firstNumber: 1, rows, firstMs: nowMs - yearMs, spanMs: yearMs })
  await rollUp(db)
  console.log(`${rows} rows of a year, ${organizationCount} organizations with ${keysOfOrganization} keys each\n`)
}

async function measure(): Promise<void> {
  const day = (before: number) => new Date(Math.floor(Date.now() / dayMs) * dayMs - before * dayMs).toISOString()
  const within = '/api/v1/organizations/org_1'
  const year = `from=${day(364)}&to=${day(-1)}`
  const paths = {
    overview: `${within}/overview`,
    'usage of a year by day and model': `${within}/usage/series?${year}&bucket=day&groupBy=model&previous=true`,
    'the same in Berlin': `${within}/usage/series?${year}&bucket=day&groupBy=model&zone=Europe/Berlin`,
    'usage of a year by day and 50 keys': `${within}/usage/series?${year}&bucket=day&groupBy=key&top=50`,
    'usage of a year by week and key': `${within}/usage/series?${year}&bucket=week&groupBy=key`,
    'the latest requests': `${within}/ledger?limit=50`,
    'failed requests of a key': `${within}/ledger?limit=50&outcome=failed&apiKeyId=key_1_7`,
  }
  const head = ['p50 ms', 'p95 ms', 'max ms', 'kB', 'kB sent'].map((word) => word.padStart(10)).join('')
  console.log(`${''.padEnd(36)}${head}`)
  for (const [name, path] of Object.entries(paths)) {
    const times: number[] = []
    let text = ''
    for (let round = 0; round < rounds; round++) {
      const startedMs = performance.now()
      const answer = await service.ask({ path, key: service.key })
      times.push(performance.now() - startedMs)
      if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}: ${answer.text}`)
      text = answer.text
    }
    times.sort((one, other) => one - other)
    const at = (share: number) => (times[Math.ceil(share * times.length) - 1] ?? 0).toFixed(1)
    const headers = { authorization: `Bearer ${service.key}`, 'accept-encoding': 'br' }
    const packed = (await service.app.inject({ url: path, headers })).rawPayload
    const sizes = [Buffer.byteLength(text), packed.length].map((bytes) => (bytes / 1_000).toFixed(1))
    console.log(`${name.padEnd(36)}${[at(0.5), at(0.95), at(1), ...sizes].map((cell) => cell.padStart(10)).join('')}`)
  }
}
