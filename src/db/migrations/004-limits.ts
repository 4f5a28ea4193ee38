import { sql, type CreateTableBuilder, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Limits and budgets, and what gateways share of them. */
export const limits: Migration = {
  async up(db: Kysely<unknown>) {
    await createSettings(db)
    await db.schema
      .createTable('budget_alerts')
      .addColumn('budget_id', 'text', (column) => column.notNull())
      .addColumn('period_start', 'bigint', (column) => column.notNull())
      .addColumn('organization_id', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('spent_micros', 'bigint', (column) => column.notNull())
      .addColumn('spent_tokens', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('budget_alerts_key', ['budget_id', 'period_start'])
      .execute()
    await db.schema
      .createTable('limit_counters')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('level', 'bigint', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('limit_leases')
      .addColumn('counter_id', 'text', (column) => column.notNull())
      .addColumn('gateway_id', 'text', (column) => column.notNull())
      .addColumn('amount', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('limit_leases_key', ['counter_id', 'gateway_id'])
      .execute()
  },
}

async function createSettings(db: Kysely<unknown>): Promise<void> {
  await withSubject(db.schema.createTable('limits'))
    .addColumn('model', 'text', (column) => column.notNull())
    .addColumn('input_tokens_per_minute', 'bigint')
    .addColumn('output_tokens_per_minute', 'bigint')
    .addColumn('requests_per_minute', 'bigint')
    .addColumn('is_requests_enforced', 'integer', (column) => column.notNull())
    .addColumn('concurrency', 'bigint')
    .addColumn('cached_read_percent', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('limits_by_subject', ['organization_id', 'subject_kind', 'subject_id', 'model'])
    .execute()
  await withSubject(db.schema.createTable('budgets'))
    .addColumn('period', 'text', (column) => column.notNull())
    .addColumn('micros_max', 'bigint')
    .addColumn('tokens_max', 'bigint')
    .addColumn('alert_percent', 'integer')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('budgets_by_subject', ['organization_id', 'subject_kind', 'subject_id', 'period'])
    .execute()
  await db.schema
    .createTable('limit_changes')
    .addColumn('id', 'bigint', (column) => column.primaryKey())
    .addColumn('count', 'bigint', (column) => column.notNull())
    .execute()
  await sql`insert into limit_changes (id, count) values (1, 0)`.execute(db)
}

function withSubject(table: CreateTableBuilder<string>) {
  return table
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) => column.notNull().references('organizations.id'))
    .addColumn('subject_kind', 'text', (column) => column.notNull())
    .addColumn('subject_id', 'text', (column) => column.notNull())
}
