// The program that writes rows of the ledger is killed at any moment of its writing. Every row of which
// it said that it is durable is there once, whole, and the file is sound.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Database } from '../../src/db/database.ts'
import type { DatabaseLocation } from '../../src/db/database-location.ts'
import { isPostgres } from '../../src/db/is-postgres.ts'
import { openDatabase } from '../../src/db/open-database.ts'
import { openLedgerWriter } from '../../src/billing/ledger/writer/open-ledger-writer.ts'
import { ledgerRow } from '../harness/databases/ledger-row.ts'
import { createPostgresDatabase } from '../harness/databases/shared-postgres.ts'
import { Failures, type CampaignOptions, type CampaignResult } from './campaign.ts'
import { createRandom } from './random.ts'

const program = join(import.meta.dirname, 'writing-program.ts')
const lanes = 2
/** In one database, numbers of one round are never those of another. */
const numbersPerRound = 1_000_000
/** A database that so many kills have gone over is given up for a new one: to look through all of it takes ever longer. */
const killsPerDatabase = 250

type DatabaseKind = NonNullable<CampaignOptions['database']>

type Lane = { readonly location: DatabaseLocation; readonly db: Database; readonly failures: Failures }

/** A round is one kill. */
export async function runRowKills({ seed, count, log, database = 'sqlite' }: CampaignOptions): Promise<CampaignResult> {
  const failures = new Failures()
  let acknowledged = 0
  for (let first = 0; first < count; first += killsPerDatabase) {
    const end = Math.min(count, first + killsPerDatabase)
    const playLane = (lane: number) =>
      withDatabase(database, failures, async (played) => {
        for (let round = first + lane; round < end; round += lanes) {
          const written = await playRound(played, round, createRandom(seed, round).integer(0, 40))
          acknowledged += written
        }
      })
    await Promise.all(Array.from({ length: lanes }, (_, lane) => playLane(lane)))
    log(`${end} of ${count}: ${acknowledged} rows acknowledged`)
  }
  return failures.toResult({ 'rows acknowledged, each there once': acknowledged })
}

async function withDatabase(
  kind: DatabaseKind,
  failures: Failures,
  play: (lane: Lane) => Promise<void>,
): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'odyssey-row-kills-'))
  const postgres = kind === 'postgres' ? await createPostgresDatabase('nothing') : null
  const location = { home, databaseUrl: postgres?.url ?? null }
  const db = await openDatabase(location)
  try {
    await play({ location, db, failures })
  } finally {
    await db.destroy()
    await postgres?.drop()
    rmSync(home, { recursive: true, force: true })
  }
}

/** Returns how many rows the program had said to be there. */
async function playRound(lane: Lane, round: number, livesMs: number): Promise<number> {
  const first = (round % killsPerDatabase) * numbersPerRound
  const acknowledged = await writeUntilKilled(lane.location, first, livesMs)
  const label = `round ${round}`
  lane.failures.check(label, () => ok(acknowledged.length > 0, 'Nothing was written.'))
  await checkRows(lane, label, first, acknowledged)
  if (round % 20 < lanes) await writeAgain(lane, label, first)
  return acknowledged.length
}

/** Kills the program some milliseconds after its first row. Returns the rows of which it said that they are there. */
function writeUntilKilled(location: DatabaseLocation, first: number, livesMs: number): Promise<number[]> {
  const url = location.databaseUrl === null ? [] : [location.databaseUrl]
  const child = spawn(process.execPath, [program, location.home, String(first), ...url], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), livesMs))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (_code, signal) => {
      if (signal !== 'SIGKILL') return reject(new Error(`The program ended by itself: ${signal}.`))
      // A line that broke off says nothing.
      resolve(readFileSync(join(location.home, 'told'), 'utf8').split('\n').slice(0, -1).map(Number))
    })
  })
}

async function checkRows(
  { db, failures }: Lane,
  label: string,
  first: number,
  acknowledged: readonly number[],
): Promise<void> {
  const rows = await db
    .selectFrom('ledger')
    .select(['request_id', 'output'])
    .where('output', '>=', first)
    .where('output', '<', first + numbersPerRound)
    .execute()
  const numbers = rows.map(({ output }) => Number(output))
  const held = new Set(numbers)
  failures.check(label, () => equal(held.size, numbers.length, 'A row is there twice.'))
  const broken = rows.filter(({ request_id: id, output }) => id !== `req_${output}`)
  failures.check(label, () => deepEqual(broken, [], 'A row is not whole.'))
  const lost = acknowledged.filter((number) => !held.has(number))
  failures.check(label, () => deepEqual(lost, [], 'A row is lost of which the program said that it is there.'))
  if (isPostgres(db)) return
  const { rows: verdicts } = await sql<{ integrity_check: string }>`PRAGMA integrity_check`.execute(db)
  const words = verdicts.map((verdict) => verdict.integrity_check)
  failures.check(label, () => deepEqual(words, ['ok'], 'The file is not sound.'))
}

/** What a killed process has left behind is no obstacle, and a row sent again is not written again. */
async function writeAgain({ location, db, failures }: Lane, label: string, number: number): Promise<void> {
  const failed = (error: unknown) => failures.add(`The rows could not be written: ${String(error)}`, label)
  const writer = await openLedgerWriter(location, { failed, recovered() {} })
  await writer.write([ledgerRow(number)])
  await writer.close()
  const { count } = await db
    .selectFrom('ledger')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('request_id', '=', `req_${number}`)
    .executeTakeFirstOrThrow()
  failures.check(label, () => equal(Number(count), 1, 'A row sent again is there again.'))
}
