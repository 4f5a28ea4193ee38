import { existsSync, linkSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from '../database.ts'
import { lockHome } from '../lock-home.ts'
import { sqlitePath, type DatabaseLocation } from '../database-location.ts'
import { syncFolder } from '../../lib/write-file-durably.ts'
import { claimFolder, releaseFolder, requireFolderOwner } from '../folder-owner.ts'
import { openSqliteUnhurried } from '../connect-sqlite.ts'
import {
  copyAndMigrate,
  countRows,
  finishFile,
  openToRead,
  removeFile,
  listTables,
  type TableShape,
} from './portable-file.ts'
import type { DatabaseSync } from 'node:sqlite'
import { sql, type Transaction } from 'kysely'
import { connectPostgres, migratePostgres } from '../open-postgres.ts'
import type { Tables } from '../tables.ts'

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

/** PostgreSQL takes 65,535 values in one statement. */
const valuesPerStatement = 60_000

/** Replaces all rows by those of a file with the same schema, in one transaction. */
async function loadIntoPostgres(
  url: string,
  { path, replaces }: { readonly path: string; readonly replaces: boolean },
): Promise<void> {
  await migratePostgres(url)
  const db = connectPostgres(url, { connectionsMax: 1, statementTimeoutMs: 600_000 })
  const file = openToRead(path)
  try {
    await db.transaction().execute(async (transaction) => {
      if (!replaces && (await holdsRows(transaction))) {
        throw new Error('The PostgreSQL database is not empty. With --replace everything in it is removed.')
      }
      const tables = listTables(file)
      await emptyTables(transaction, tables)
      for (const table of tables) await loadTable(transaction, file, table)
      await setTriggers(transaction, tables, 'enable')
      // Its own comes a minute later at best; until then sums over the ledger would be planned as if it were empty.
      await sql.raw(`analyze ${tables.map(({ name }) => name).join(', ')}`).execute(transaction)
    })
  } finally {
    file.close()
    await db.destroy()
  }
}

async function holdsRows(transaction: Transaction<Tables>): Promise<boolean> {
  const organizations = await transaction.selectFrom('organizations').select('id').limit(1).execute()
  const rows = await transaction.selectFrom('ledger').select('request_id').limit(1).execute()
  return organizations.length + rows.length > 0
}

/** The tables that only ever grow guard themselves by triggers, which stay off until all rows are there. */
async function emptyTables(transaction: Transaction<Tables>, tables: readonly TableShape[]): Promise<void> {
  await setTriggers(transaction, tables, 'disable')
  await sql.raw(`truncate ${tables.map(({ name }) => name).join(', ')}`).execute(transaction)
}

async function setTriggers(
  transaction: Transaction<Tables>,
  tables: readonly TableShape[],
  to: 'enable' | 'disable',
): Promise<void> {
  for (const { name } of tables) await sql.raw(`alter table ${name} ${to} trigger user`).execute(transaction)
}

async function loadTable(
  transaction: Transaction<Tables>,
  file: DatabaseSync,
  { name, columns }: TableShape,
): Promise<void> {
  const rowsPerStatement = Math.floor(valuesPerStatement / columns.length)
  const insert = (rows: readonly Record<string, unknown>[]) => {
    const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`)
    const list = sql.join(columns.map((column) => sql.ref(column)))
    return sql`insert into ${sql.table(name)} (${list}) values ${sql.join(values)}`.execute(transaction)
  }
  const rows = file.prepare(`SELECT ${columns.join(', ')} FROM ${name}`)
  // An amount may be beyond the whole numbers of JavaScript.
  rows.setReadBigInts(true)
  let batch: Record<string, unknown>[] = []
  for (const row of rows.iterate()) {
    batch.push(row)
    if (batch.length < rowsPerStatement) continue
    await insert(batch)
    batch = []
  }
  if (batch.length > 0) await insert(batch)
  for (const column of columns) await continueCounting(transaction, name, column)
}

/** A column that counts up goes on after the largest number that was loaded. */
async function continueCounting(transaction: Transaction<Tables>, table: string, column: string): Promise<void> {
  const { rows } = await sql<{
    counter: string | null
  }>`select pg_get_serial_sequence(${table}, ${column}) as counter`.execute(transaction)
  const counter = rows[0]?.counter ?? null
  if (counter === null) return
  await sql`select setval(${counter}, coalesce(max(${sql.ref(column)}), 0) + 1, false) from ${sql.table(table)}`.execute(
    transaction,
  )
}
