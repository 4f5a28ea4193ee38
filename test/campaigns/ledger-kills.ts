// The service, and the database's server, are killed at any moment under load. Every answer a client
// saw the end of has exactly one row, with the counts the client was told, whatever was killed.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { startPostgresServer, type PostgresServer } from '../../scripts/postgres/start-server.ts'
import { readLedger, startService, until, type LedgerRow, type Service } from '../harness/start-service.ts'
import {
  describeCounts,
  Failures,
  increment,
  pause,
  quantile,
  type CampaignOptions,
  type CampaignResult,
} from './campaign.ts'
import { plainRequest, withStream, type PlainRequest } from './plain-requests.ts'
import { createRandom, type Random } from './random.ts'
import { authorize, exchange } from './raw-http.ts'
import { readUsage, type ReportedUsage } from './reported-usage.ts'

const victims = ['service', 'server', 'both'] as const
type Victim = (typeof victims)[number]

/** What a client was told, by the request's id. */
type Told = Map<string, ReportedUsage>

type Course = {
  service: Service
  /** Null where the database is a file. */
  readonly server: PostgresServer | null
  readonly failures: Failures
  readonly outcomes: Map<string, number>
  readonly told: Told
  readonly catchUpsMs: number[]
}

const clientsAtOnce = 8
const catchUpMaxMs = 30_000

/** A round kills once, in the midst of requests that come without a pause. */
export async function runLedgerKills({
  seed,
  count,
  log,
  database = 'sqlite',
}: CampaignOptions): Promise<CampaignResult> {
  const server = database === 'postgres' ? await startPostgresServer() : null
  const failures = new Failures()
  try {
    const service = await startService({ environment: { DATABASE_URL: server?.url ?? '' } })
    const course: Course = { service, server, failures, outcomes: new Map(), told: new Map(), catchUpsMs: [] }
    for (let round = 0; round < count; round += 1) {
      const victim = server === null ? 'service' : (victims[round % victims.length] ?? 'service')
      await playRound(course, createRandom(seed, round), victim)
      await checkLedger(course, `round ${round} (${victim})`)
      if ((round + 1) % 10 === 0) log(`${round + 1} of ${count}: ${course.told.size} acknowledged`)
    }
    await course.service.stop()
    const { outcomes, told, catchUpsMs } = course
    return failures.toResult({
      answers: describeCounts(outcomes),
      'acknowledged, one row each': told.size,
      ...(server !== null && {
        'caught up within, median (ms)': Math.round(quantile(catchUpsMs, 0.5)),
        'caught up within, longest (ms)': Math.round(Math.max(0, ...catchUpsMs)),
      }),
    })
  } finally {
    await server?.stop()
  }
}

async function playRound(course: Course, random: Random, victim: Victim): Promise<void> {
  let isOver = false
  const clients = Array.from({ length: clientsAtOnce }, async (_, client) => {
    const own = createRandom(random.integer(0, 2 ** 31), client)
    while (!isOver) await askOnce(course, own)
  })
  await pause(random.integer(20, 1_500))
  if (victim === 'server') await killServer(course, random.integer(100, 3_000))
  else {
    if (victim === 'both') await course.server?.kill()
    await pause(victim === 'both' ? random.integer(0, 1_000) : 0)
    await course.service.stop('SIGKILL')
  }
  isOver = true
  await Promise.all(clients)
  if (victim === 'both') await course.server?.restart()
  if (victim !== 'server') course.service = await course.service.restart()
}

/** While it is away the service goes on; afterwards it brings what it has kept. */
async function killServer({ server, service, catchUpsMs, failures }: Course, awayMs: number): Promise<void> {
  await server?.kill()
  await pause(awayMs)
  await server?.restart()
  const startedMs = performance.now()
  try {
    await until(() => spooledFiles(service) === 0, 'not caught up', catchUpMaxMs)
    catchUpsMs.push(performance.now() - startedMs)
  } catch {
    failures.add(`The service did not catch up within ${catchUpMaxMs} ms.`)
  }
}

function spooledFiles({ home }: Service): number {
  return readdirSync(join(home, 'spool')).length
}

async function askOnce({ service, outcomes, told, failures }: Course, random: Random): Promise<void> {
  const options = { promptWordsMax: 20, outputTokensMax: 8, isRepeatable: false }
  const request: PlainRequest = withStream(plainRequest(random, options), random.chance(0.5))
  const { shape, path, body } = request
  const response = await exchange(service.address, {
    path,
    headers: authorize(service.key),
    body: JSON.stringify(body),
  })
  const isWhole = response.status === 200 && response.isComplete
  increment(outcomes, isWhole ? 'whole' : response.status === null ? 'nothing' : `broken ${response.status}`)
  // A service that is gone refuses connections at once; nobody asks that often.
  if (!isWhole) await pause(20)
  if (!isWhole) return
  const id = response.headers.get('x-request-id') ?? ''
  // An answer that broke off with an error event is no acknowledgement.
  if (response.text.includes('event: error') || response.text.includes('"error":{')) return
  failures.check(id, () => void told.set(id, readUsage(response, shape)))
}

async function checkLedger({ service, server, told, failures }: Course, label: string): Promise<void> {
  if (server !== null) {
    await until(() => spooledFiles(service) === 0, 'The service did not catch up.', catchUpMaxMs).catch(() =>
      failures.add('The service did not catch up after its start.', label),
    )
  }
  const rows = server === null ? readSqlite(service) : await readPostgres(server.url)
  failures.check(label, () => {
    const byId = new Map(rows.map((row) => [row.request_id, row]))
    equal(byId.size, rows.length, 'no request has two rows')
    for (const [id, usage] of told) {
      const row = byId.get(id)
      ok(row !== undefined, `${id} was acknowledged and has no row`)
      const { input_uncached: uncached, input_cache_write: written, input_cache_read: read, output } = row
      deepEqual({ uncached, written, read, output }, usage, `${id} is billed for what it was told`)
    }
  })
}

function readSqlite({ home }: Service): LedgerRow[] {
  const db = new DatabaseSync(join(home, 'odyssey.db'), { readOnly: true })
  const check = db.prepare('PRAGMA integrity_check').get()
  db.close()
  equal(check?.['integrity_check'], 'ok', 'the integrity of the database')
  return readLedger(home)
}

async function readPostgres(url: string): Promise<LedgerRow[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<LedgerRow>('select * from ledger order by sequence')
    const counts = ['input_uncached', 'input_cache_read', 'input_cache_write', 'output', 'output_thinking'] as const
    return rows.map((row) => ({ ...row, ...Object.fromEntries(counts.map((name) => [name, Number(row[name])])) }))
  } finally {
    await client.end()
  }
}
