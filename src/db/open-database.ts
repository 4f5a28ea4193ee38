import type { Database } from './database.ts'
import { sqlitePath, type DatabaseLocation } from './database-location.ts'
import { claimFolder, requireFolderOwner } from './folder-owner.ts'
import type { MigrationState } from './migrate.ts'
import { listSqliteMigrations, migrateSqlite, openSqlite } from './open-sqlite.ts'
import { openThreadedSqlite } from './threads/open-threaded-sqlite.ts'

/** Opens the one database or the other, and brings its schema up to date. */
export async function openDatabase(location: DatabaseLocation): Promise<Database> {
  if (location.databaseUrl !== null) return openPostgres(location, location.databaseUrl)
  requireFolderOwner(location)
  return openSqlite(sqlitePath(location))
}

/** As `openDatabase`, for a process that serves: while it is asked, and while it writes, the process goes on. */
export async function openServingDatabase(location: DatabaseLocation): Promise<Database> {
  if (location.databaseUrl !== null) return openPostgres(location, location.databaseUrl)
  requireFolderOwner(location)
  await migrateSqlite(sqlitePath(location))
  return openThreadedSqlite(sqlitePath(location))
}

/** Returns the names of the migrations that were applied. */
export async function migrateDatabase(location: DatabaseLocation): Promise<string[]> {
  requireFolderOwner(location)
  if (location.databaseUrl === null) return migrateSqlite(sqlitePath(location))
  return (await loadPostgres()).migratePostgres(location.databaseUrl)
}

/** Every known migration and whether it was applied. Changes nothing. */
export async function listDatabaseMigrations(location: DatabaseLocation): Promise<MigrationState[]> {
  requireFolderOwner(location)
  if (location.databaseUrl === null) return listSqliteMigrations(sqlitePath(location))
  return (await loadPostgres()).listPostgresMigrations(location.databaseUrl)
}

async function openPostgres(location: DatabaseLocation, url: string): Promise<Database> {
  const db = await (await loadPostgres()).openPostgres(url)
  claimFolder(location)
  return db
}

/** The PostgreSQL client is loaded where it is used: commands on a SQLite file start faster without it. */
function loadPostgres() {
  return import('./open-postgres.ts')
}
