import { existsSync, linkSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { sql, type Transaction } from 'kysely'
import { codeOf, messageOf } from '../../lib/message-of.ts'
import { syncFolder } from '../../lib/write-file-durably.ts'
import type { Database } from '../database.ts'
import { sqlitePath, type DatabaseLocation } from '../database-location.ts'
import { requireFolderOwner } from '../folder-owner.ts'
import { connectPostgresToCopy, listPostgresMigrations } from '../open-postgres.ts'
import { openSqlite } from '../open-sqlite.ts'
import { isWriteFault } from '../sqlite-errors.ts'
import type { Tables } from '../tables.ts'
import { addChecksum } from './checksum.ts'
import { claimUnfinished, removeLeftovers } from './unfinished-files.ts'
import { checkFile, copyFile, countRows, finishFile, listTables, removeFile, type TableShape } from './portable-file.ts'

const rowsPerFetch = 2_000

/**
 * Writes everything the database holds at one moment into a file, while the service goes on.
 *
 * The file is there only when it is whole and was checked. Returns the number of rows of each table.
 */
export async function backUp(location: DatabaseLocation, path: string): Promise<Map<string, number>> {
  requireFolderOwner(location)
  if (existsSync(path)) throw new Error(`${path} exists already.`)
  const { unfinished, release } = claimUnfinished(path, (name) => makeEmpty(name, path))
  try {
    removeLeftovers(dirname(path))
    if (location.databaseUrl === null) copyFile(sqlitePath(location), unfinished)
    else await exportPostgres(location.databaseUrl, unfinished)
    checkFile(unfinished, location.databaseUrl === null ? sqlitePath(location) : path)
    finishFile(unfinished)
    await addChecksum(unfinished)
    putInPlace(unfinished, path)
  } catch (error) {
    removeFile(unfinished)
    throw isWriteFault(error) ? unwritable(path, error) : error
  } finally {
    release()
  }
  syncFolder(dirname(path))
  return countRows(path)
}

/** Whatever is wrong with the place of the backup shows here, before the database is read. */
function makeEmpty(unfinished: string, path: string): void {
  try {
    writeFileSync(unfinished, '', { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw unwritable(path, messageOf(error).replace(unfinished, path))
    throw new Error(`There is no folder ${dirname(path)} for the backup.`, { cause: error })
  }
}

function unwritable(path: string, reason: unknown): Error {
  return new Error(`The backup ${path} cannot be written: ${messageOf(reason)}.`, { cause: reason })
}

/** Unlike renaming, a second name never replaces what another backup has put there in the meantime. */
function putInPlace(unfinished: string, path: string): void {
  try {
    linkSync(unfinished, path)
    rmSync(unfinished)
  } catch (error) {
    if (existsSync(path)) throw new Error(`${path} exists already.`, { cause: error })
    // Some file systems have one name for each file.
    renameSync(unfinished, path)
  }
}

async function exportPostgres(url: string, path: string): Promise<void> {
  const waiting = (await listPostgresMigrations(url)).filter(({ appliedAt }) => appliedAt === null)
  if (waiting.length > 0)
    throw new Error('The database has an older schema than this program: run "odyssey migrate" first.')
  await (await openSqlite(path)).destroy()
  const file = new DatabaseSync(path)
  // Nothing is acknowledged before the end, and then the whole file is synced once.
  file.exec('PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF')
  const db: Database = connectPostgresToCopy(url)
  try {
    // All reads of this transaction see the database as it was at the first.
    await db
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute(async (snapshot) => {
        for (const table of listTables(file)) await exportTable(snapshot, file, table)
      })
  } finally {
    await db.destroy()
    file.close()
  }
}

async function exportTable(
  snapshot: Transaction<Tables>,
  file: DatabaseSync,
  { name, columns }: TableShape,
): Promise<void> {
  const list = columns.join(', ')
  const insert = file.prepare(`INSERT INTO ${name} (${list}) VALUES (${columns.map(() => '?').join(', ')})`)
  // A migration may have put rows there that every new database begins with.
  file.exec(`DELETE FROM ${name}`)
  await sql.raw(`DECLARE export NO SCROLL CURSOR FOR SELECT ${list} FROM ${name}`).execute(snapshot)
  for (;;) {
    const { rows } = await sql.raw<Record<string, SQLInputValue>>(`FETCH ${rowsPerFetch} FROM export`).execute(snapshot)
    if (rows.length === 0) break
    file.exec('BEGIN')
    for (const row of rows) insert.run(...columns.map((column) => row[column] ?? null))
    file.exec('COMMIT')
  }
  await sql.raw('CLOSE export').execute(snapshot)
}
