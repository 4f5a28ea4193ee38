import type { Database } from './database.ts'
import { sqlitePath, type DatabasePlace } from './database-place.ts'
import type { MigrationState } from './migrate.ts'
import { listPostgresMigrations, migratePostgres, openPostgres } from './open-postgres.ts'
import { listSqliteMigrations, migrateSqlite, openSqlite } from './open-sqlite.ts'
import { openThreadedSqlite } from './threads/open-threaded-sqlite.ts'

/** Opens the one database or the other, and brings its schema up to date. */
export function openDatabase(place: DatabasePlace): Promise<Database> {
  return place.databaseUrl === null ? openSqlite(sqlitePath(place)) : openPostgres(place.databaseUrl)
}

/** As `openDatabase`, for a process that serves: while it is asked, and while it writes, the process goes on. */
export async function openServingDatabase(place: DatabasePlace): Promise<Database> {
  if (place.databaseUrl !== null) return openPostgres(place.databaseUrl)
  await migrateSqlite(sqlitePath(place))
  return openThreadedSqlite(sqlitePath(place))
}

/** Returns the names of the migrations that were applied. */
export function migrateDatabase(place: DatabasePlace): Promise<string[]> {
  return place.databaseUrl === null ? migrateSqlite(sqlitePath(place)) : migratePostgres(place.databaseUrl)
}

/** Every known migration and whether it was applied. Changes nothing. */
export function listDatabaseMigrations(place: DatabasePlace): Promise<MigrationState[]> {
  return place.databaseUrl === null
    ? listSqliteMigrations(sqlitePath(place))
    : listPostgresMigrations(place.databaseUrl)
}
