import { PostgresAdapter } from 'kysely'
import type { Database } from './database.ts'

/** For the few things that one of the two databases has alone. */
export function isPostgres(db: Pick<Database, 'getExecutor'>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter
}
