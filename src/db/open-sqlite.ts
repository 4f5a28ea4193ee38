import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { connectSqlite } from './connect-sqlite.ts'
import type { Database } from './database.ts'
import { listMigrations, migrate, type MigrationState } from './migrate.ts'
import { messageOf } from '../lib/message-of.ts'
import { findAccessFault } from '../lib/system/access-fault.ts'
import { isBusy, isDamage } from './sqlite-errors.ts'
import { sqlitePath, type DatabaseLocation } from './database-location.ts'

/** Opens the database file and brings its schema up to date. */
export async function openSqlite(path: string): Promise<Database> {
  const db = connectSqlite(path)
  try {
    await migrate(db)
    return db
  } catch (error) {
    await db.destroy()
    throw error
  }
}

/** Returns the names of the migrations that were applied. */
export async function migrateSqlite(path: string): Promise<string[]> {
  const db = connectSqlite(path)
  try {
    return await migrate(db)
  } finally {
    await db.destroy()
  }
}

/** Nothing is made where there is no file yet. */
export async function listSqliteMigrations(path: string): Promise<MigrationState[]> {
  const db = connectSqlite(existsSync(path) ? path : ':memory:')
  try {
    return await listMigrations(db)
  } finally {
    await db.destroy()
  }
}

/** Why the SQLite file cannot be used as it is, and what the operator can do about that. */
export class DatabaseFault extends Error {
  override readonly name = 'DatabaseFault'
  readonly says: string
  readonly todo: string

  constructor(says: string, todo: string, options?: ErrorOptions) {
    super(`${says} ${todo}`, options)
    this.says = says
    this.todo = todo
  }
}

/**
 * Refuses a SQLite file that is damaged or that this user cannot write, before anything is served or written.
 *
 * Reads the whole file, which takes about a second for each gigabyte. Nothing to
 * do for PostgreSQL, which checks its pages as it reads them.
 */
export function requireUsableDatabase(location: DatabaseLocation): void {
  const path = sqlitePath(location)
  if (location.databaseUrl !== null) return
  const locked = findAccessFault([path, `${path}-wal`, `${path}-shm`], 'write')
  if (locked !== null) throw new DatabaseFault(locked.says, locked.todo)
  if (!existsSync(path)) return
  const fault = findFault(path)
  if (fault !== null) {
    throw new DatabaseFault(
      `${path} is damaged: ${fault}. Nothing was changed.`,
      'Restore a backup with "odyssey restore FILE --replace", ' +
        'which keeps the damaged file under another name; docs/operations/storage.md says more.',
    )
  }
  tryWriting(path)
}

/** Takes the place of whoever writes and gives it up again: a file that may be written can still lie where nothing can be. */
function tryWriting(path: string): void {
  const file = new DatabaseSync(path, { timeout: 1_000 })
  try {
    file.exec('BEGIN IMMEDIATE; ROLLBACK')
  } catch (error) {
    // Somebody else is writing, so that it can be written.
    if (isBusy(error)) return
    const todo = "Nothing in it is damaged. Let the service's user write the file and its folder."
    throw new DatabaseFault(`${path} cannot be written: ${messageOf(error)}.`, todo, { cause: error })
  } finally {
    file.close()
  }
}

/** Says what is damaged. Throws where that cannot be found out: a full disk or a program that holds the file damages nothing. */
function findFault(path: string): string | null {
  let file: DatabaseSync | null = null
  try {
    file = new DatabaseSync(path, { timeout: 5_000 })
    const said = String(file.prepare('PRAGMA quick_check(1)').get()?.['quick_check'])
    return said === 'ok' ? null : said.replaceAll('\n', ' ')
  } catch (error) {
    if (isDamage(error)) return messageOf(error)
    throw new Error(`${path} cannot be checked: ${messageOf(error)}. Nothing was changed.`, { cause: error })
  } finally {
    file?.close()
  }
}
