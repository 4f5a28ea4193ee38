import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Signing out at a provider from here: whether it is wanted, whom it is told of, and the requests that wait for an answer. */
export const providerSignOuts: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('connections')
      .addColumn('signs_out', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
    await db.schema.alterTable('sessions').addColumn('sso_hint', 'text').execute()
    await db.schema
      .createTable('sso_sign_outs')
      .addColumn('request_hash', 'text', (column) => column.primaryKey())
      .addColumn('connection_id', 'text', (column) => column.notNull().references('connections.id').onDelete('cascade'))
      .addColumn('organization_id', 'text', (column) => column.notNull())
      .addColumn('ends_at', 'bigint', (column) => column.notNull())
      .addColumn('used_at', 'bigint')
      .execute()
  },
}
