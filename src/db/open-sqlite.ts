import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { connectSqlite } from './connect-sqlite.ts'
import type { Database } from './database.ts'
import { listMigrations, migrate, type MigrationState } from './migrate.ts'
import { messageOf } from '../lib/message-of.ts'
import { isDamage } from './sqlite-errors.ts'
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

/**
 * Refuses a SQLite file that is damaged, before anything is served or written.
 *
 * Reads the whole file, which takes about a second for each gigabyte. Nothing to
 * do for PostgreSQL, which checks its pages as it reads them.
 */
export function requireSoundDatabase(location: DatabaseLocation): void {
  const path = sqlitePath(location)
  if (location.databaseUrl !== null || !existsSync(path)) return
  const fault = findFault(path)
  if (fault === null) return
  throw new Error(
    `${path} is damaged: ${fault}. Nothing was changed. Restore a backup with "odyssey restore FILE --replace", ` +
      'which keeps the damaged file under another name; docs/operations/storage.md says more.',
  )
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
