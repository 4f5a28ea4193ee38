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
import { createRandom, type Random } from '../random.ts'

const program = join(import.meta.dirname, 'changing-program.ts')
const organizationId = 'org_1'
const lanes = 2
/** A database that so many kills have gone over is given up for a new one: to look through all of it takes ever longer. */
const killsPerDatabase = 100
/** In one database, numbers of one round are never those of another. */
const numbersPerRound = 1_000_000
const livesMsMax = 200
/** What is old from the round before is deleted first of all, which takes some hundredths of a second. */
const deletesMsMax = 80

type Sums = { changes: number; deleted: number; checkpoints: number; brokenOff: number }

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
  const sums: Sums = { changes: 0, deleted: 0, checkpoints: 0, brokenOff: 0 }
  for (let first = 0; first < count; first += killsPerDatabase) {
    const end = Math.min(count, first + killsPerDatabase)
    const playLane = (lane: number) =>
      withDatabase(database, { failures, sums }, async (played) => {
        for (let round = first + lane; round < end; round += lanes) {
          await playRound(played, round, planKill(createRandom(seed, round), round))
        }
        await addUp(played)
      })
    await Promise.all(Array.from({ length: lanes }, (_, lane) => playLane(lane)))
    log(`${end} of ${count}: ${sums.changes} changes done`)
  }
  return failures.toResult({
    'changes done, each there or deleted for its age': sums.changes,
    'rows deleted': sums.deleted,
    'kills between the word of a deletion and its end': sums.brokenOff,
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

/** So long after the program has said this for the first time. */
type Kill = { readonly word: 'changing' | 'deleting'; readonly afterMs: number }

/** A lane kills in turn while rows are written and in the midst of the deletion of those from the round before. */
function planKill(random: Random, round: number): Kill {
  return Math.floor(round / lanes) % 2 === 0
    ? { word: 'changing', afterMs: random.integer(0, livesMsMax) }
    : { word: 'deleting', afterMs: random.integer(0, deletesMsMax) }
}

async function playRound(lane: Lane, round: number, kill: Kill): Promise<void> {
  const { failures, sums } = lane
  const done = await changeUntilKilled(lane, (round % killsPerDatabase) * numbersPerRound, kill)
  const label = `round ${round}`
  if (kill.word === 'changing') failures.check(label, () => ok(done.length > 0, 'Nothing was changed.'))
  sums.changes += done.length
  sums.brokenOff += Number(await isDeletionBrokenOff(lane))
  await checkRows(lane, label, done)
  await checkSigned(lane, label)
}

/** Kills the program at the moment that is planned. Returns the changes that it said to be done. */
function changeUntilKilled({ location, epochMs }: Lane, first: number, kill: Kill): Promise<number[]> {
  const url = location.databaseUrl === null ? [] : [location.databaseUrl]
  const child = spawn(process.execPath, [program, location.home, String(first), String(epochMs), ...url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let isHeard = false
  child.stdout.on('data', (piece: Buffer) => {
    if (isHeard || !piece.includes(kill.word)) return
    isHeard = true
    setTimeout(() => child.kill('SIGKILL'), kill.afterMs)
  })
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

/** Whether rows are left that the audit says are deleted. */
async function isDeletionBrokenOff({ db }: Lane): Promise<boolean> {
  const log = await db.selectFrom('audit_logs').select(['deleted_to', 'delete_to']).executeTakeFirst()
  return log !== undefined && (log.delete_to ?? 0) > (log.deleted_to ?? 0)
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
