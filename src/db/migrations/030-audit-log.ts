import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** The audit's chains as Merkle trees, whose roots are signed. The rows themselves stay the truth; nothing here holds content. */
export const auditLog: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('audit_logs')
      .addColumn('organization_id', 'text', (column) => column.primaryKey())
      .addColumn('origin', 'text')
      .addColumn('size', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('audit_tiles')
      .addColumn('organization_id', 'text', (column) => column.notNull())
      .addColumn('level', 'integer', (column) => column.notNull())
      .addColumn('number', 'bigint', (column) => column.notNull())
      .addColumn('hashes', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('audit_tiles_key', ['organization_id', 'level', 'number'])
      .execute()
    await db.schema
      .createTable('audit_checkpoints')
      .addColumn('organization_id', 'text', (column) => column.notNull())
      .addColumn('size', 'bigint', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('note', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('audit_checkpoints_key', ['organization_id', 'size'])
      .execute()
    await db.schema
      .createTable('audit_keys')
      .addColumn('number', 'integer', (column) => column.primaryKey())
      .addColumn('public_key', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
  },
}
