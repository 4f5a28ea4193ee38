import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** As long as the dashboard looks back by the minute. */
const hourMs = 3_600_000

/** What was asked in each of the last minutes, from those on that an organization looks at now. */
export const recentMinutes: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('recent_minutes')
      .addColumn('organization_id', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('project_id', 'text', (column) => column.notNull())
      .addColumn('requests', 'bigint', (column) => column.notNull())
      .addColumn('failed', 'bigint', (column) => column.notNull())
      .addColumn('aborted', 'bigint', (column) => column.notNull())
      .addColumn('output', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('recent_minutes_key', ['organization_id', 'at', 'project_id'])
      .execute()
    await db.schema.createIndex('recent_minutes_by_time').on('recent_minutes').column('at').execute()
    // By its organization and time each row is found in an index; by the time alone all of them would be read.
    await sql`
      insert into recent_minutes (organization_id, at, project_id, requests, failed, aborted, output)
      select ledger.organization_id, at - at % 60000, project_id, count(*),
        sum(case when outcome = 'failed' then 1 else 0 end), sum(case when outcome = 'aborted' then 1 else 0 end), sum(output)
      from organizations cross join ledger
      where ledger.organization_id = organizations.id and kind = 'charge' and at >= ${sql.lit(Date.now() - hourMs)}
        and sequence <= (select rolled_up_to from ledger_progress)
      group by ledger.organization_id, at - at % 60000, project_id`.execute(db)
  },
}
