import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What is known of answers that did not arrive, and of repetitions of whose body earlier charges may be void. */
export const repetitions: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('deliveries')
      .addColumn('state', 'text', (column) => column.notNull().defaultTo('arrived'))
      .execute()
    await db.schema
      .createTable('repetitions')
      .addColumn('request_id', 'text', (column) => column.primaryKey())
      .addColumn('organization_id', 'text', (column) => column.notNull())
      .addColumn('api_key_id', 'text', (column) => column.notNull())
      .addColumn('body_hash', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .execute()
  },
}
