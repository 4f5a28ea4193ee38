import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Signed reports of months that are over, and what is given back for them. */
export const slaReports: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('sla_reports')
      .addColumn('organization_id', 'text', (column) => column.notNull())
      .addColumn('month', 'text', (column) => column.notNull())
      .addColumn('version', 'integer', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('note', 'text', (column) => column.notNull())
      .addColumn('marks', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('sla_reports_key', ['organization_id', 'month', 'version'])
      .execute()
    await db.schema
      .createTable('credits')
      .addColumn('organization_id', 'text', (column) => column.notNull())
      .addColumn('month', 'text', (column) => column.notNull())
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('micros', 'bigint', (column) => column.notNull())
      .addColumn('percent', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('credits_key', ['organization_id', 'month', 'model'])
      .execute()
  },
}
