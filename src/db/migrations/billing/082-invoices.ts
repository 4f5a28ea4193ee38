import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Statements of months that are over, and what stands in them beside the ledger's charges. */
export const invoices: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('invoices')
      .addColumn('number', 'integer', (column) => column.primaryKey())
      .addColumn('organization_id', 'text', (column) => column.notNull())
      .addColumn('month', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('currency', 'text', (column) => column.notNull())
      .addColumn('total_micros', 'bigint', (column) => column.notNull())
      .addColumn('prepaid_micros', 'bigint', (column) => column.notNull())
      .addColumn('note', 'text', (column) => column.notNull())
      .addUniqueConstraint('invoices_of_month', ['organization_id', 'month'])
      .execute()
    await db.schema
      .createTable('account_entries')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('organization_id', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('micros', 'bigint', (column) => column.notNull())
      .addColumn('reason', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('account_entries_of_organization')
      .on('account_entries')
      .columns(['organization_id', 'at'])
      .execute()
  },
}
