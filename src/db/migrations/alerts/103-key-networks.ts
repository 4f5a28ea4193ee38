import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** From which networks keys were used. */
export const keyNetworks: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('key_networks')
      .addColumn('api_key_id', 'text', (column) => column.notNull())
      .addColumn('network', 'text', (column) => column.notNull())
      .addColumn('organization_id', 'text', (column) => column.notNull())
      .addColumn('first_used_at', 'bigint', (column) => column.notNull())
      .addColumn('last_used_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('key_networks_key', ['api_key_id', 'network'])
      .execute()
    await db.schema.createIndex('key_networks_first').on('key_networks').columns(['first_used_at']).execute()
  },
}
