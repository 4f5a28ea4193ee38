import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Which secret the database belongs to. The row is written by whoever opens it first, who has the secret. */
export const installation: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('installation')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('secret_fingerprint', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
  },
}
