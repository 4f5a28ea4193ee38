import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** How many requests became known in a minute, whenever they were. */
export const knownMinutes: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('known_minutes')
      .addColumn('organization_id', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('requests', 'bigint', (column) => column.notNull())
      .addColumn('failed', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('known_minutes_key', ['organization_id', 'at'])
      .execute()
    await db.schema.createIndex('known_minutes_by_time').on('known_minutes').column('at').execute()
  },
}
