import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What was made of the things of another gateway, so that moving them here again makes nothing twice. */
export const imports: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('imports')
      .addColumn('source', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('source_id', 'text', (column) => column.notNull())
      .addColumn('target_id', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('imports_key', ['source', 'kind', 'source_id'])
      .execute()
  },
}
