import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Where the audit is pushed to, and how far. */
export const auditSinks: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('audit_sinks')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('organization_id', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('format', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('shown_target', 'text', (column) => column.notNull())
      .addColumn('sealed', 'text', (column) => column.notNull())
      .addColumn('is_configured', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('disabled_at', 'bigint')
      .addColumn('failures', 'integer', (column) => column.notNull())
      .addColumn('next_attempt_at', 'bigint', (column) => column.notNull())
      .addColumn('last_error', 'text')
      .addColumn('last_delivered_at', 'bigint')
      .addColumn('lease_holder', 'text')
      .addColumn('lease_until', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('audit_sink_cursors')
      .addColumn('sink_id', 'text', (column) => column.notNull())
      .addColumn('organization_id', 'text', (column) => column.notNull())
      .addColumn('sequence', 'bigint', (column) => column.notNull())
      .addColumn('checkpoint_size', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('audit_sink_cursors_key', ['sink_id', 'organization_id'])
      .execute()
  },
}
