import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** One feed of changes in place of a table for each thing that may change. */
export const changes: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('changes')
      .addColumn('topic', 'text', (column) => column.primaryKey())
      .addColumn('counter', 'bigint', (column) => column.notNull())
      .execute()
    await sql`insert into changes (topic, counter) select 'access', count from access_changes`.execute(db)
    await sql`insert into changes (topic, counter) select 'limits', count from limit_changes`.execute(db)
    await sql`insert into changes (topic, counter) values ('prices', 0)`.execute(db)
    for (const old of ['access_changes', 'limit_changes']) await db.schema.dropTable(old).execute()
  },
}
