// node bin/odyssey.cjs --run bench/gateway/status-page.ts [--requests N]
//
// Starts a service over a PostgreSQL whose models have 90 days behind them, stops the database, and asks for the status page, its
// two other forms and, beside them, for /healthz, which says nothing: what that takes is the machine's and the server's own.

import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startPostgresServer } from '../../scripts/postgres/start-server.ts'
import { modelIds } from '../../src/core/model.ts'
import { openPostgres } from '../../src/db/open-postgres.ts'
import { startService } from '../../test/harness/start-service.ts'
import { wholeNumber } from '../whole-number.ts'

const { values } = parseArgs({ options: { requests: { type: 'string' } } })
const requests = wholeNumber('requests', values.requests, 1_000)
const dayMs = 86_400_000

const server = await startPostgresServer()
try {
  await fill(server.url)
  const service = await startService({ environment: { DATABASE_URL: server.url } })
  try {
    await waitForHistory(service.address)
    await measure(service.address, 'the database answers')
    await server.kill()
    await measure(service.address, 'the database is stopped')
    await server.restart()
  } finally {
    await service.stop()
  }
} finally {
  await server.stop()
}

/** Days in which a gateway was away for two minutes, and a model for one more. */
async function fill(url: string): Promise<void> {
  const db = await openPostgres(url)
  const firstMs = Date.now() - 90 * dayMs
  const rows = Array.from({ length: 90 }, (_, day) => {
    const from = firstMs + day * dayMs
    const span = { boot_id: `boot_${day}`, from_at: from, until_at: from + dayMs - 120_000, ended_by: null }
    return ['', ...modelIds].map((subject, number) => ({ ...span, number, subject }))
  })
  await db.insertInto('life_spans').values(rows.flat()).execute()
  await db.destroy()
}

async function waitForHistory(address: string): Promise<void> {
  for (;;) {
    const page = await (await fetch(`${address}/status`)).text()
    if (page.includes('<svg')) return
    await sleep(100)
  }
}

async function measure(address: string, when: string): Promise<void> {
  console.log(
    `\n${when.padEnd(28)}${['P50 ms', 'P95 ms', 'P99 ms', 'max ms'].map((head) => head.padStart(9)).join('')}`,
  )
  const paths = ['/status', '/status.json', '/status.atom', '/healthz']
  const times = new Map(paths.map((path) => [path, [] as number[]]))
  // In turn, so that all of them meet the same machine.
  for (let round = 0; round < requests; round += 1) {
    for (const path of paths) {
      const startedMs = performance.now()
      const response = await fetch(`${address}${path}`)
      await response.arrayBuffer()
      if (!response.ok) throw new Error(`${path}: ${response.status}`)
      times.get(path)?.push(performance.now() - startedMs)
    }
    await sleep(5)
  }
  for (const [path, measured] of times) {
    measured.sort((a, b) => a - b)
    const at = (share: number) => (measured[Math.ceil(share * measured.length) - 1] ?? 0).toFixed(2).padStart(9)
    console.log(`${path.padEnd(28)}${at(0.5)}${at(0.95)}${at(0.99)}${at(1)}`)
  }
}
