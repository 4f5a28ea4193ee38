// The program that changes things, signs for the audit and deletes its old rows is killed at any moment. Chain, tiles,
// checkpoints and the hashes of deleted rows agree afterwards, and no change is lost that was done.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readAuditRows } from '../../../src/accounts/audit/read-audit.ts'
import { verifyAudit } from '../../../src/accounts/audit/verify-audit.ts'
import { checkpointFileIn } from '../../../src/accounts/transparency/checkpoint-file.ts'
import { readSignedRoots } from '../../../src/accounts/transparency/known-roots.ts'
import { subtreesOf } from '../../../src/accounts/transparency/tiles.ts'
import type { DatabaseLocation } from '../../../src/db/database-location.ts'
import type { Database } from '../../../src/db/database.ts'
import { openDatabase } from '../../../src/db/open-database.ts'
import { rootOf } from '../../../src/lib/merkle-tree.ts'
import { createPostgresDatabase } from '../../harness/databases/shared-postgres.ts'
import { Failures, type CampaignOptions, type CampaignResult } from '../campaign.ts'
import { createRandom } from '../random.ts'

const program = join(import.meta.dirname, 'changing-program.ts')
const organizationId = 'org_1'
const lanes = 2
/** A database that so many kills have gone over is given up for a new one: to look through all of it takes ever longer. */
const killsPerDatabase = 100
/** In one database, numbers of one round are never those of another. */
const numbersPerRound = 1_000_000
const livesMsMax = 60

type Sums = { changes: number; deleted: number; checkpoints: number }

type Lane = {
  readonly location: DatabaseLocation
  readonly db: Database
  readonly failures: Failures
  readonly epochMs: number
  readonly sums: Sums
}

/** A round is one kill. */
export async function runAuditKills(options: CampaignOptions): Promise<CampaignResult> {
  const { seed, count, log, database = 'sqlite' } = options
  const failures = new Failures()
  const sums: Sums = { changes: 0, deleted: 0, checkpoints: 0 }
  for (let first = 0; first < count; first += killsPerDatabase) {
    const end = Math.min(count, first + killsPerDatabase)
    const playLane = (lane: number) =>
      withDatabase(database, { failures, sums }, async (played) => {
        for (let round = first + lane; round < end; round += lanes) {
          await playRound(played, round, createRandom(seed, round).integer(0, livesMsMax))
        }
        await addUp(played)
      })
    await Promise.all(Array.from({ length: lanes }, (_, lane) => playLane(lane)))
    log(`${end} of ${count}: ${sums.changes} changes done`)
  }
  return failures.toResult({
    'changes done, each there or deleted for its age': sums.changes,
    'rows deleted': sums.deleted,
    checkpoints: sums.checkpoints,
  })
}

async function withDatabase(
  kind: NonNullable<CampaignOptions['database']>,
  shared: Pick<Lane, 'failures' | 'sums'>,
  play: (lane: Lane) => Promise<void>,
): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'odyssey-audit-kills-'))
  const postgres = kind === 'postgres' ? await createPostgresDatabase('nothing') : null
  const location = { home, databaseUrl: postgres?.url ?? null }
  const db = await openDatabase(location)
  try {
    await play({ ...shared, location, db, epochMs: Date.now() })
  } finally {
    await db.destroy()
    await postgres?.drop()
    rmSync(home, { recursive: true, force: true })
  }
}

async function playRound(lane: Lane, round: number, livesMs: number): Promise<void> {
  const { failures, sums } = lane
  const done = await changeUntilKilled(lane, (round % killsPerDatabase) * numbersPerRound, livesMs)
  const label = `round ${round}`
  failures.check(label, () => ok(done.length > 0, 'Nothing was changed.'))
  sums.changes += done.length
  await checkRows(lane, label, done)
  await checkSigned(lane, label)
}

/** Kills the program some milliseconds after its first change. Returns the changes that it said to be done. */
function changeUntilKilled({ location, epochMs }: Lane, first: number, livesMs: number): Promise<number[]> {
  const url = location.databaseUrl === null ? [] : [location.databaseUrl]
  const child = spawn(process.execPath, [program, location.home, String(first), String(epochMs), ...url], {
    stdio: ['ignore', 'pipe', 'inherit'],
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

/** Each change that was done is there, but for those before the first that is left. */
async function checkRows({ db, failures }: Lane, label: string, done: readonly number[]): Promise<void> {
  const rows = await readAuditRows(db, { organizationId, afterSequence: 0, limit: 1_000_000 })
  const numbers = rows.filter(({ action }) => action === 'things:change').map(({ target }) => Number(target))
  const held = new Set(numbers)
  failures.check(label, () => equal(held.size, numbers.length, 'A change is there twice.'))
  const firstLeft = numbers[0] ?? Infinity
  const lost = done.filter((number) => number >= firstLeft && !held.has(number))
  failures.check(label, () => deepEqual(lost, [], 'A change is lost that was done.'))
}

/** What was signed, in the database and beside it, is what there is. */
async function checkSigned({ location, db, failures }: Lane, label: string): Promise<void> {
  const { roots, forged } = await readSignedRoots(db, organizationId, checkpointFileIn(location.home))
  const { faults } = await verifyAudit(db, organizationId, [], roots)
  const told = faults.map(({ kind, message }) => `${kind}: ${message}`)
  failures.check(label, () => deepEqual([forged, told.slice(0, 3)], [[], []]))
  for (const { size, root } of roots.slice(-1)) {
    const own = await rootOf(size, subtreesOf(db, organizationId)).catch(() => null)
    failures.check(label, () => ok(own?.equals(root) === true, 'The tiles are not those that were signed for.'))
  }
}

async function addUp({ db, sums }: Lane): Promise<void> {
  const log = await db.selectFrom('audit_logs').select('deleted_to').executeTakeFirst()
  const { count } = await db
    .selectFrom('audit_checkpoints')
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirstOrThrow()
  sums.deleted += log?.deleted_to ?? 0
  sums.checkpoints += Number(count)
}
