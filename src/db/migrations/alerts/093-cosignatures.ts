import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What witnesses have put under checkpoints of the audit. */
export const cosignatures: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('audit_cosignatures')
      .addColumn('organization_id', 'text', (column) => column.notNull())
      .addColumn('size', 'bigint', (column) => column.notNull())
      .addColumn('witness', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('line', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('audit_cosignatures_key', ['organization_id', 'size', 'witness'])
      .execute()
  },
}
