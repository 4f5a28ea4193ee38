import { existsSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { Kysely, SqliteAdapter, SqliteDialect, type SqliteDatabase } from 'kysely'
import type { Database } from './database.ts'
import { listMigrations, migrate, type MigrationState } from './migrate.ts'
import type { Tables } from './tables.ts'

/** Before this version SQLite could lose committed pages when the log was reset. */
const sqliteVersionMin = '3.51.3'

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

function connectSqlite(path: string): Database {
  return new Kysely<Tables>({
    dialect: new TransactionalSqliteDialect({ database: toKyselyDatabase(connectFile(path)) }),
  })
}

/** A connection as every part of the program has it: readers never wait for the writer; a commit is on the disk before it counts. */
export function connectFile(path: string): DatabaseSync {
  const sqlite = new DatabaseSync(path, { timeout: 5_000 })
  try {
    requireVersion(sqlite)
    sqlite.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;')
    return sqlite
  } catch (error) {
    sqlite.close()
    throw error
  }
}

/** Schema changes are rolled back with the transaction they are part of, which the stock dialect does not use. */
class TransactionalSqliteDialect extends SqliteDialect {
  override createAdapter() {
    return new TransactionalSqliteAdapter()
  }
}

class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl() {
    return true
  }
}

type KyselyStatement = ReturnType<SqliteDatabase['prepare']>

/** More than the program has of statements that are always the same. */
const preparedMax = 200
/** Of other statements, pragmas above all, some have their effect when they are prepared and not when they are run. */
const mayBeKept = /^(?:select|insert|update|delete|with|begin|commit|rollback)\b/i

function toKyselyDatabase(sqlite: DatabaseSync): SqliteDatabase {
  /** The one that was used last is at the end. */
  const prepared = new Map<string, KyselyStatement>()
  return {
    close: () => sqlite.close(),
    prepare(sql) {
      const statement = prepared.get(sql) ?? prepareStatement(sqlite, sql)
      if (!mayBeKept.test(sql)) return statement
      prepared.delete(sql)
      prepared.set(sql, statement)
      const [oldest] = prepared.keys()
      if (prepared.size > preparedMax && oldest !== undefined) prepared.delete(oldest)
      return statement
    },
  }
}

function prepareStatement(sqlite: DatabaseSync, sql: string): KyselyStatement {
  // A transaction that begins as a reader cannot wait its turn to write when another process has written meanwhile.
  const statement = sqlite.prepare(sql === 'begin' ? 'begin immediate' : sql)
  const asInput = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[]
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...asInput(parameters)),
    run: (parameters) => statement.run(...asInput(parameters)),
    // Reading row by row takes a statement of its own: run again meanwhile, it would begin anew.
    iterate: (parameters) => sqlite.prepare(sql).iterate(...asInput(parameters)),
  }
}

function requireVersion(sqlite: DatabaseSync): void {
  const version = String(sqlite.prepare('SELECT sqlite_version() AS version').get()?.['version'])
  if (version.localeCompare(sqliteVersionMin, 'en', { numeric: true }) < 0) {
    throw new Error(`SQLite ${version} is too old: ${sqliteVersionMin} or newer is needed.`)
  }
}
