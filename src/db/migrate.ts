import { sql } from 'kysely'
import { Migrator, type MigrationInfo } from 'kysely/migration'
import { messageOf } from '../lib/message-of.ts'
import type { Database } from './database.ts'
import { migrations } from './migrations/all.ts'

export type MigrationState = {
  readonly name: string
  /** When it was applied, null while it waits. */
  readonly appliedAt: Date | null
}

/**
 * Brings the schema up to date. Returns the names of the migrations that it applied.
 *
 * Several processes may begin at once: one applies, the others wait for it and
 * find nothing left to do. A migration that fails leaves nothing behind.
 */
export async function migrate(db: Database, schema?: string): Promise<string[]> {
  await refuseNewerSchema(db, schema)
  const { error, results = [] } = await createMigrator(db, schema).migrateToLatest()
  if (error !== undefined)
    throw new Error(`The database could not be brought up to date: ${reasonOf(error)}`, { cause: error })
  return results.map(({ migrationName }) => migrationName)
}

/** Every migration this program knows, the applied ones with their time. Changes nothing. */
export async function listMigrations(db: Database, schema?: string): Promise<MigrationState[]> {
  await refuseNewerSchema(db, schema)
  const known = await createMigrator(db, schema).getMigrations()
  return known.map(({ name, executedAt }: MigrationInfo) => ({ name, appliedAt: executedAt ?? null }))
}

/** A database that a newer program has changed may hold what this one would miscount. */
async function refuseNewerSchema(db: Database, schema: string | undefined): Promise<void> {
  const unknown = (await appliedNames(db, schema)).filter((name) => !Object.hasOwn(migrations, name))
  if (unknown.length === 0) return
  throw new Error(
    `The database was last used by a newer version of Odyssey: this one does not know ${unknown.join(', ')}. ` +
      'Start the newer version, or restore a backup from before it.',
  )
}

async function appliedNames(db: Database, schema: string | undefined): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  const isThere = tables.some(
    (table) => table.name === 'kysely_migration' && (schema === undefined || table.schema === schema),
  )
  if (!isThere) return []
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
  return rows.map(({ name }) => name)
}

function createMigrator(db: Database, schema: string | undefined): Migrator {
  return new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve(migrations) },
    ...(schema !== undefined && { migrationTableSchema: schema }),
  })
}

function reasonOf(error: unknown): string {
  return messageOf(error)
}
