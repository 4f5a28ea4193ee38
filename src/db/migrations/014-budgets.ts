import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Several alerts of a budget, each with the time it was reached, and raises of a budget until a time. */
export const budgets: Migration = {
  async up(db: Kysely<unknown>) {
    await createAlerts(db)
    const table = db.schema.alterTable('budgets')
    await table.addColumn('alert_percents', 'text').execute()
    await sql`update budgets set alert_percents = cast(alert_percent as text)`.execute(db)
    await table.dropColumn('alert_percent').execute()
    for (const column of ['raised_micros_max', 'raised_tokens_max', 'raised_until']) {
      await table.addColumn(column, 'bigint').execute()
    }
  },
}

/** Neither database changes a primary key of SQLite's, so the table is made anew. */
async function createAlerts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('budget_alerts_by_percent')
    .addColumn('budget_id', 'text', (column) => column.notNull())
    .addColumn('period_start', 'bigint', (column) => column.notNull())
    .addColumn('percent', 'integer', (column) => column.notNull())
    .addColumn('organization_id', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('spent_micros', 'bigint', (column) => column.notNull())
    .addColumn('spent_tokens', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('budget_alerts_by_percent_key', ['budget_id', 'period_start', 'percent'])
    .execute()
  // The alert of a budget that was removed or has none any more says no longer at what share it came.
  await sql`
    insert into budget_alerts_by_percent
      (budget_id, period_start, percent, organization_id, at, spent_micros, spent_tokens)
    select budget_id, period_start,
      coalesce((select alert_percent from budgets where budgets.id = budget_alerts.budget_id), 100),
      organization_id, at, spent_micros, spent_tokens
    from budget_alerts`.execute(db)
  await db.schema.dropTable('budget_alerts').execute()
  await db.schema.alterTable('budget_alerts_by_percent').renameTo('budget_alerts').execute()
}
