import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What availability is computed of: requests by the minute, signs of life, what was promised, and what does not count. */
export const availability: Migration = {
  async up(db: Kysely<unknown>) {
    await createMinutes(db)
    await createSigns(db)
    await createPromises(db)
  },
}

async function createMinutes(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('availability_minutes')
    .addColumn('organization_id', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('model', 'text', (column) => column.notNull())
    .addColumn('valid', 'bigint', (column) => column.notNull())
    .addColumn('bad', 'bigint', (column) => column.notNull())
    .addColumn('slow', 'bigint', (column) => column.notNull())
    .addColumn('first_bad_at', 'bigint')
    .addColumn('last_bad_at', 'bigint')
    .addPrimaryKeyConstraint('availability_minutes_key', ['organization_id', 'at', 'model'])
    .execute()
  await db.schema.createIndex('availability_minutes_by_time').on('availability_minutes').column('at').execute()
  // What the rollups contain already; nothing was agreed on the first token so far.
  await sql`
    insert into availability_minutes (organization_id, at, model, valid, bad, slow, first_bad_at, last_bad_at)
    select organization_id, at - at % 60000, model, count(*),
      cast(sum(case when outcome = 'failed' then 1 else 0 end) as bigint), 0,
      min(case when outcome = 'failed' then at end), max(case when outcome = 'failed' then at end)
    from ledger
    where kind = 'charge' and sequence <= (select rolled_up_to from ledger_progress)
      and not (outcome = 'failed' and reason is not null
        and reason not in ('overloaded', 'engine-failed', 'internal', 'service-stopping'))
    group by organization_id, at - at % 60000, model`.execute(db)
  await db.schema
    .createTable('unserved_requests')
    .addColumn('organization_id', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('model', 'text', (column) => column.notNull())
    .addColumn('class', 'text', (column) => column.notNull())
    .addColumn('requests', 'bigint', (column) => column.notNull())
    .addColumn('first_at', 'bigint', (column) => column.notNull())
    .addColumn('last_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('unserved_requests_key', ['organization_id', 'at', 'model', 'class'])
    .execute()
  await db.schema.createIndex('unserved_requests_by_time').on('unserved_requests').column('at').execute()
}

async function createSigns(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('life_spans')
    .addColumn('boot_id', 'text', (column) => column.notNull())
    .addColumn('number', 'bigint', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('from_at', 'bigint', (column) => column.notNull())
    .addColumn('until_at', 'bigint', (column) => column.notNull())
    .addColumn('ended_by', 'text')
    .addPrimaryKeyConstraint('life_spans_key', ['boot_id', 'number'])
    .execute()
  await db.schema.createIndex('life_spans_by_end').on('life_spans').column('until_at').execute()
}

async function createPromises(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('sla_objectives')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) => column.notNull())
    .addColumn('effective_at', 'bigint', (column) => column.notNull())
    .addColumn('availability_ppm', 'integer', (column) => column.notNull())
    .addColumn('basis', 'text', (column) => column.notNull())
    .addColumn('down_share_ppm', 'integer', (column) => column.notNull())
    .addColumn('first_token_ms', 'integer')
    .addColumn('credits', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('sla_objectives_in_force')
    .on('sla_objectives')
    .columns(['organization_id', 'effective_at'])
    .execute()
  await db.schema
    .createTable('sla_exclusions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('from_at', 'bigint', (column) => column.notNull())
    .addColumn('until_at', 'bigint', (column) => column.notNull())
    .addColumn('reason', 'text', (column) => column.notNull())
    .addColumn('announced_at', 'bigint', (column) => column.notNull())
    .addColumn('withdrawn_at', 'bigint')
    .execute()
}
