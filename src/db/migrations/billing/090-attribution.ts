import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

const sums = [
  'requests',
  'finished',
  'aborted',
  'failed',
  'reversed',
  'unpriced',
  'cost_micros',
  'cost_rest_picos',
  'input_uncached',
  'input_cache_read',
  'input_cache_write',
  'input_cache_write_long',
  'output',
  'output_thinking',
] as const

/**
 * Whom requests are for below the key: end users and tags, in the ledger and summed up beside it.
 *
 * Gateways of the version before go on writing rows without them, which count as rows of nobody. The sums have a mark of
 * their own for how far they have come, since those gateways add up everything else and not these.
 */
export const attribution: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('ledger').addColumn('end_user', 'text').execute()
    await db.schema.alterTable('ledger').addColumn('tags', 'text').execute()
    await db.schema
      .alterTable('organizations')
      .addColumn('end_users', 'text', (column) => column.notNull().defaultTo('hashed'))
      .execute()
    await db.schema
      .alterTable('organizations')
      .addColumn('tag_keys', 'text', (column) => column.notNull().defaultTo('[]'))
      .execute()
    await createSums(db)
    await db.schema
      .createTable('attribution_values')
      .addColumn('organization_id', 'text', (column) => column.notNull())
      .addColumn('dimension', 'text', (column) => column.notNull())
      .addColumn('day', 'bigint', (column) => column.notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('attribution_values_key', ['organization_id', 'dimension', 'day', 'value'])
      .execute()
    await db.schema
      .createTable('attribution_progress')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('rolled_up_to', 'bigint', (column) => column.notNull())
      .execute()
    // No row from before has any.
    await sql`insert into attribution_progress (id, rolled_up_to)
      select 1, coalesce(max(sequence), 0) from ledger`.execute(db)
  },
}

async function createSums(db: Kysely<unknown>): Promise<void> {
  let table = db.schema
    .createTable('attributed_hours')
    .addColumn('organization_id', 'text', (column) => column.notNull())
    .addColumn('dimension', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('project_id', 'text', (column) => column.notNull())
    .addColumn('api_key_id', 'text', (column) => column.notNull())
    .addColumn('model', 'text', (column) => column.notNull())
  for (const name of sums) table = table.addColumn(name, 'bigint', (column) => column.notNull())
  await table
    .addPrimaryKeyConstraint('attributed_hours_key', [
      'organization_id',
      'dimension',
      'at',
      'value',
      'project_id',
      'api_key_id',
      'model',
    ])
    .execute()
}
