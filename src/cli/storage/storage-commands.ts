import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { writeAnchors } from '../../accounts/audit/anchors.ts'
import { recordRestore } from '../../accounts/audit/restores.ts'
import { loadSecrets, secretPathIn, type Secrets } from '../../config/load-secret.ts'
import { systemClock } from '../../lib/clock.ts'
import { anchorFileIn } from '../../service/joins/audit-anchors.ts'
import { loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/schema.ts'
import type { Database } from '../../db/database.ts'
import { openDatabase, listDatabaseMigrations, migrateDatabase } from '../../db/open-database.ts'
import { backUp } from '../../db/portable/back-up.ts'
import { restore, type Restoring } from '../../db/portable/restore.ts'
import { messageOf } from '../../lib/message-of.ts'
import { writeFileDurably } from '../../lib/write-file-durably.ts'
import { findSecretFault } from '../../service/joins/open-secrets.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { makeHome } from '../../service/joins/make-home.ts'

const restoreOptions = { replace: { type: 'boolean', default: false } } as const

/** `odyssey backup FILE`: also while the service runs. */
export async function backupCommand(args: string[]): Promise<void> {
  const { positionals } = parseArguments({ args, words: 1 })
  const path = requirePath(positionals, 'backup')
  const config = loadConfig()
  console.log(`${path} holds ${describe(await backUp(config, path))}.`)
  noteBackup(config)
}

/** The service tells its operators when the last one was. A backup is none the worse where that cannot be noted. */
function noteBackup({ home }: Config): void {
  try {
    if (existsSync(home)) writeFileDurably(join(home, 'last-backup'), `${new Date().toISOString()}\n`)
  } catch (error) {
    console.error(`The time of this backup cannot be noted: ${messageOf(error)}`)
  }
}

/** `odyssey restore FILE`: into the database that the environment names, while the service is stopped. */
export async function restoreCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options: restoreOptions, words: 1 })
  await fill(loadConfig(), 'Restored', { path: requirePath(positionals, 'restore'), replaces: values.replace })
}

/** `odyssey import FILE`: moves from the data folder's SQLite to PostgreSQL. */
export async function importCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options: restoreOptions, words: 1 })
  const path = requirePath(positionals, 'import')
  const config = loadConfig()
  if (config.databaseUrl === null) throw new UsageError('import needs DATABASE_URL, the PostgreSQL database to fill.')
  await fill(config, 'Imported', { path, replaces: values.replace })
}

/** Fills the database, which holds the audit's row of that from its first moment on, and anchors what is there then. */
async function fill(config: Config, done: string, { path, replaces }: Restoring): Promise<void> {
  const found: { fault: string | null; secrets: Secrets | null } = { fault: null, secrets: null }
  const complete = async (db: Database) => {
    // A wrong secret is told better now than when the service is started: it would refuse.
    found.fault = await findSecretFault(config.home, db)
    const isThere = found.fault === null && existsSync(secretPathIn(config.home))
    found.secrets = isThere ? loadSecrets(config.home) : null
    const key = found.secrets?.auditAnchorKey ?? null
    await recordRestore({ db, clock: systemClock }, { file: basename(path), key })
  }
  const counts = await restore(config, { path, replaces, complete })
  console.log(`${done} ${describe(counts)}.`)
  if (found.fault !== null) console.log(found.fault)
  if (found.secrets !== null) await anchor(config, found.secrets)
}

async function anchor(config: Config, secrets: Secrets): Promise<void> {
  const db = await openDatabase(config)
  try {
    await writeAnchors({ db, clock: systemClock }, anchorFileIn(config.home, secrets))
  } finally {
    await db.destroy()
  }
}

function requirePath(positionals: readonly string[], command: string): string {
  const [path] = positionals
  if (path === undefined) throw new UsageError(`${command} takes one FILE.`)
  return resolve(path)
}

function describe(counts: ReadonlyMap<string, number>): string {
  const filled = [...counts].filter(([, count]) => count > 0)
  return filled.map(([table, count]) => `${count} ${table}`).join(', ')
}

const options = { status: { type: 'boolean', default: false } } as const

/** `odyssey migrate`: what a start of the service does by itself, for those who want it done before. */
export async function migrateCommand(args: string[]): Promise<void> {
  const { values } = parseArguments({ args, options })
  const config = loadConfig()
  if (values.status) {
    for (const { name, appliedAt } of await listDatabaseMigrations(config)) {
      console.log(`${name.padEnd(24)} ${appliedAt === null ? 'not applied' : `applied ${appliedAt.toISOString()}`}`)
    }
    return
  }
  makeHome(config)
  const applied = await migrateDatabase(config)
  console.log(applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`)
}
