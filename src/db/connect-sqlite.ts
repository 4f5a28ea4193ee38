import type { DatabaseSync } from 'node:sqlite'
import { Kysely, SqliteAdapter, SqliteDialect } from 'kysely'
import { connectFile, connectFileToRead, keepStatements } from './connect-file.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables.ts'

/** Opens a file as it is: whoever is not sure that it has its schema opens it by `open-sqlite.ts`. */
export function connectSqlite(path: string): Database {
  return databaseOf(connectFile(path))
}

/** Opens the file for the row or two that a request waits for: they are found here before another thread could be asked. */
export function openSqliteToRead(path: string): Database {
  return databaseOf(connectFileToRead(path))
}

/** Opens the file for work that can be done again: its commits are whole, and are on the disk with the next one that waits for it. */
export function openSqliteUnhurried(path: string): Database {
  const file = connectFile(path)
  file.exec('PRAGMA synchronous = NORMAL')
  return databaseOf(file)
}

/** A connection with the query builder around it. */
export function databaseOf(file: DatabaseSync): Database {
  return new Kysely<Tables>({ dialect: new TransactionalSqliteDialect({ database: keepStatements(file) }) })
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
