import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Old rows of the audit may be deleted; their hashes stay. */
export const auditRetention: Migration = {
  async up(db: Kysely<unknown>) {
    for (const column of ['delete_to', 'deleted_to']) {
      await db.schema
        .alterTable('audit_logs')
        .addColumn(column, 'bigint', (added) => added.notNull().defaultTo(0))
        .execute()
    }
    await db.schema
      .createTable('audit_row_hashes')
      .addColumn('organization_id', 'text', (column) => column.notNull())
      .addColumn('number', 'bigint', (column) => column.notNull())
      .addColumn('hashes', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('audit_row_hashes_key', ['organization_id', 'number'])
      .execute()
  },
}
