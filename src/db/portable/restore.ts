import { existsSync, linkSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from '../database.ts'
import { lockHome } from '../lock-home.ts'
import { sqlitePath, type DatabaseLocation } from '../database-location.ts'
import { syncFolder } from '../../lib/write-file-durably.ts'
import { claimFolder, releaseFolder, requireFolderOwner } from '../folder-owner.ts'
import { openSqliteUnhurried } from '../open-sqlite.ts'
import { loadIntoPostgres } from './load-into-postgres.ts'
import { copyAndMigrate, countRows, finishFile, openToRead, removeFile } from './portable-file.ts'

export type Restoring = {
  /** A backup, or a database file of a data folder. */
  readonly path: string
  /** Without it, a database that holds something is left alone. */
  readonly replaces: boolean
  /** Adds to what the file holds before any of it is in place: neither is ever there without the other. */
  complete?(db: Database): Promise<void>
}

/**
 * Makes the database what a file says. Returns the number of rows of each table.
 *
 * The file is checked first and may be of an older version. If anything fails,
 * the database is as it was. A data folder that belonged to PostgreSQL has its
 * own database from then on when it is replaced.
 */
export async function restore(
  location: DatabaseLocation,
  { path, replaces, complete }: Restoring,
): Promise<Map<string, number>> {
  if (!replaces) requireFolderOwner(location)
  mkdirSync(location.home, { recursive: true, mode: 0o700 })
  const unlock = lockHome(join(location.home, 'serve.lock'))
  if (unlock === null) throw new Error('The service is running: stop it first.')
  const copy = join(location.home, 'odyssey.db.restoring')
  try {
    removeFile(copy)
    await copyAndMigrate(path, copy)
    const counts = countRows(copy)
    if (complete !== undefined) await completeCopy(copy, complete)
    await putInto(location, copy, replaces)
    return counts
  } finally {
    removeFile(copy)
    unlock()
  }
}

async function completeCopy(copy: string, complete: (db: Database) => Promise<void>): Promise<void> {
  const db = openSqliteUnhurried(copy)
  try {
    await complete(db)
  } finally {
    await db.destroy()
  }
  finishFile(copy)
}

async function putInto(location: DatabaseLocation, copy: string, replaces: boolean): Promise<void> {
  if (location.databaseUrl === null) {
    putInPlace(location, copy, replaces)
    releaseFolder(location)
  } else {
    await loadIntoPostgres(location.databaseUrl, { path: copy, replaces })
    claimFolder(location)
  }
}

/**
 * What was there is kept under another name: it may be damaged, and still hold what no backup does.
 *
 * Whenever this is cut off there is a database with all that it held, the old one or the new one: the old one gets its
 * second name first, and the new one takes the first name in one step. Only of a damaged one the log cannot be
 * written into its file before; then a start in between would find the file without it.
 */
function putInPlace(location: DatabaseLocation, copy: string, replaces: boolean): void {
  const path = sqlitePath(location)
  if (!replaces && holdsSomething(path)) throw new Error(`${path} is not empty. With --replace it is set aside.`)
  const aside = `${path}.replaced-${new Date().toISOString().replaceAll(':', '-')}`
  if (existsSync(path)) {
    writeLogIntoFile(path)
    // A log that is left would be taken for the new file's.
    for (const suffix of ['-wal', '-shm']) if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix)
    giveSecondName(path, aside)
  }
  renameSync(copy, path)
  syncFolder(location.home)
}

function writeLogIntoFile(path: string): void {
  try {
    finishFile(path)
  } catch {
    // A damaged file stays as it is.
  }
}

function giveSecondName(path: string, second: string): void {
  try {
    linkSync(path, second)
  } catch {
    // Some file systems have one name for each file.
    renameSync(path, second)
  }
}

function holdsSomething(path: string): boolean {
  if (!existsSync(path)) return false
  const file = openToRead(path)
  try {
    const tables = file.prepare(`SELECT name FROM sqlite_master WHERE name IN ('organizations', 'ledger')`).all()
    return tables.some(({ name }) => file.prepare(`SELECT 1 FROM ${String(name)} LIMIT 1`).get() !== undefined)
  } catch {
    // What cannot be read is no reason to lose it.
    return true
  } finally {
    file.close()
  }
}
