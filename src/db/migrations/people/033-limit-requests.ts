import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What people and owners of keys ask for beyond their limits. */
export const limitRequests: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('limit_requests')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('organization_id', 'text', (column) => column.notNull().references('organizations.id'))
      .addColumn('api_key_id', 'text', (column) => column.notNull().references('api_keys.id'))
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('wanted', 'text', (column) => column.notNull())
      .addColumn('reason', 'text', (column) => column.notNull())
      .addColumn('contact', 'text')
      .addColumn('asked_by', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('answered_at', 'bigint')
      .addColumn('answered_by', 'text')
      .addColumn('answer', 'text')
      .execute()
    await db.schema
      .createIndex('limit_requests_by_organization')
      .on('limit_requests')
      .columns(['organization_id', 'created_at'])
      .execute()
    await db.schema.createIndex('limit_requests_by_key').on('limit_requests').column('api_key_id').execute()
  },
}
