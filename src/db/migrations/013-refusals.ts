import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Requests that were turned away are counted by organization, class and minute, and stand in no ledger row. */
export const refusals: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('refusals')
      .addColumn('organization_id', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('class', 'text', (column) => column.notNull())
      .addColumn('requests', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('refusals_key', ['organization_id', 'at', 'class'])
      .execute()
    await db.schema.createIndex('refusals_by_time').on('refusals').column('at').execute()
  },
}
