import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What was answered to requests of the management API that may be sent again. */
export const management: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('stored_answers')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('fingerprint', 'text', (column) => column.notNull())
      .addColumn('status', 'integer')
      .addColumn('body', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('stored_answers_by_time').on('stored_answers').column('created_at').execute()
  },
}
