import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { Kysely, SqliteAdapter, SqliteDialect, type SqliteDatabase } from 'kysely'
import { Migrator } from 'kysely/migration'
import type { Database } from './database.ts'
import { migrations } from './migrations/all.ts'
import type { Tables } from './tables.ts'

/** Before this version SQLite could lose committed pages when the log was reset. */
const sqliteVersionMin = '3.51.3'

/** Opens the database file and brings its schema up to date. */
export async function openSqlite(path: string): Promise<Database> {
  const sqlite = new DatabaseSync(path, { timeout: 5_000 })
  requireVersion(sqlite)
  // Readers never wait for the writer; a commit is on the disk before it counts.
  sqlite.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;')
  const db: Database = new Kysely<Tables>({
    dialect: new TransactionalSqliteDialect({ database: toKyselyDatabase(sqlite) }),
  })
  await migrate(db)
  return db
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

async function migrate(db: Database): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw new Error('The database could not be brought up to date.', { cause: error })
}

function toKyselyDatabase(sqlite: DatabaseSync): SqliteDatabase {
  return {
    close: () => sqlite.close(),
    prepare(sql) {
      // A transaction that begins as a reader cannot wait its turn to write when another process has written meanwhile.
      const statement = sqlite.prepare(sql === 'begin' ? 'begin immediate' : sql)
      const asInput = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[]
      return {
        reader: statement.columns().length > 0,
        all: (parameters) => statement.all(...asInput(parameters)),
        run: (parameters) => statement.run(...asInput(parameters)),
        iterate: (parameters) => statement.iterate(...asInput(parameters)),
      }
    },
  }
}

function requireVersion(sqlite: DatabaseSync): void {
  const version = String(sqlite.prepare('SELECT sqlite_version() AS version').get()?.['version'])
  if (version.localeCompare(sqliteVersionMin, 'en', { numeric: true }) < 0) {
    throw new Error(`SQLite ${version} is too old: ${sqliteVersionMin} or newer is needed.`)
  }
}
