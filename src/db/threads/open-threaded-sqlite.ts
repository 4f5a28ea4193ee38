import { Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, type Dialect } from 'kysely'
import type { Database } from '../database.ts'
import type { Tables } from '../tables.ts'
import { ThreadedDriver } from './threaded-driver.ts'

/**
 * Opens the SQLite file for a process that serves. It is there and has its schema.
 *
 * SQLite works while its caller waits, and a commit waits for the disk. Here it
 * works in threads of its own: whoever asks goes on meanwhile, as with PostgreSQL.
 */
export function openThreadedSqlite(path: string): Database {
  return useDriver(new ThreadedDriver(path))
}

/** With a driver that a test has in its hands. */
export function useDriver(driver: ThreadedDriver): Database {
  return new Kysely<Tables>({ dialect: dialectOf(driver) })
}

function dialectOf(driver: ThreadedDriver): Dialect {
  return {
    createDriver: () => driver,
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new ThreadedAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  }
}

/** The driver itself sees to it that one writes at a time, and that readers need not wait for that one. */
class ThreadedAdapter extends SqliteAdapter {
  override get supportsMultipleConnections() {
    return true
  }
}
