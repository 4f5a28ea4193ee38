import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Accounts of programs, which own keys that are no person's, and projects in which keys are theirs alone. */
export const serviceAccounts: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('service_accounts')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('organization_id', 'text', (column) => column.notNull().references('organizations.id'))
      .addColumn('project_id', 'text', (column) => column.notNull().references('projects.id'))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('created_by', 'text', (column) => column.notNull())
      .addColumn('disabled_at', 'bigint')
      .addColumn('removed_at', 'bigint')
      .execute()
    await db.schema
      .createIndex('service_accounts_by_organization')
      .on('service_accounts')
      .columns(['organization_id', 'created_at', 'id'])
      .execute()
    await db.schema.alterTable('api_keys').addColumn('service_account_id', 'text').execute()
    await db.schema.createIndex('api_keys_by_account').on('api_keys').column('service_account_id').execute()
    await db.schema
      .alterTable('projects')
      .addColumn('key_owners', 'text', (column) => column.notNull().defaultTo('anyone'))
      .execute()
  },
}
