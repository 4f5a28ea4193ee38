import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { isPostgres } from '../is-postgres.ts'

const tokenCounts = [
  'input_uncached',
  'input_cache_read',
  'input_cache_write',
  'input_cache_write_long',
  'output',
  'output_thinking',
] as const
const optionalTexts = ['quota_id', 'protocol', 'price_id', 'replica', 'client_request_id', 'body_hash'] as const
const optionalNumbers = ['admitted_at', 'is_stream', 'cost_micros', 'first_token_ms'] as const

/** Columns that the ledger had before, in the order in which they are copied. */
const oldColumns = [
  'request_id',
  'at',
  'organization_id',
  'project_id',
  'api_key_id',
  'model',
  'outcome',
  'reason',
  'input_uncached',
  'input_cache_read',
  'input_cache_write',
  'output',
  'output_thinking',
  'first_event_ms',
  'duration_ms',
  'cache_source',
  'cache_differs_at',
  'cache_differs_in',
]

/** Prices, a ledger with an order and a cost, and the sums made from it. */
export const billing: Migration = {
  async up(db: Kysely<unknown>) {
    await replaceLedger(db)
    await createPrices(db)
    for (const table of ['usage_hours', 'usage_days']) await createUsage(db, table)
    await createProgress(db)
    await guardLedger(db)
  },
}

/** The ledger is made anew: a column that counts up cannot be added to a table that is there. */
async function replaceLedger(db: Kysely<unknown>): Promise<void> {
  const isOnPostgres = isPostgres(db)
  await db.schema.dropIndex('ledger_by_organization').execute()
  await db.schema.alterTable('ledger').renameTo('ledger_before_billing').execute()
  let ledger = db.schema
    .createTable('ledger')
    .addColumn('sequence', isOnPostgres ? 'bigint' : 'integer', (column) =>
      isOnPostgres ? column.generatedByDefaultAsIdentity().primaryKey() : column.primaryKey().autoIncrement(),
    )
    .addColumn('request_id', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull().defaultTo('charge'))
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('organization_id', 'text', (column) => column.notNull())
    .addColumn('project_id', 'text', (column) => column.notNull())
    .addColumn('api_key_id', 'text', (column) => column.notNull())
    .addColumn('model', 'text', (column) => column.notNull())
    .addColumn('outcome', 'text', (column) => column.notNull())
    .addColumn('reason', 'text')
    .addColumn('first_event_ms', 'bigint')
    .addColumn('duration_ms', 'bigint', (column) => column.notNull())
    .addColumn('cache_source', 'text')
    .addColumn('cache_differs_at', 'bigint')
    .addColumn('cache_differs_in', 'text')
    .addUniqueConstraint('ledger_once_per_request', ['request_id', 'kind'])
  for (const count of tokenCounts) ledger = ledger.addColumn(count, 'bigint', (column) => column.notNull().defaultTo(0))
  for (const name of optionalTexts) ledger = ledger.addColumn(name, 'text')
  for (const name of optionalNumbers) ledger = ledger.addColumn(name, 'bigint')
  await ledger.execute()
  const columns = sql.join(oldColumns.map((name) => sql.ref(name)))
  await sql`insert into ledger (${columns}) select ${columns} from ledger_before_billing order by at, request_id`.execute(
    db,
  )
  await db.schema.dropTable('ledger_before_billing').execute()
  await db.schema
    .createIndex('ledger_by_organization')
    .on('ledger')
    .columns(['organization_id', 'at', 'sequence'])
    .execute()
  await db.schema
    .createTable('deliveries')
    .addColumn('request_id', 'text', (column) => column.primaryKey())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('deliveries_by_time').on('deliveries').column('at').execute()
}

async function createPrices(db: Kysely<unknown>): Promise<void> {
  let prices = db.schema
    .createTable('prices')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) => column.references('organizations.id'))
    .addColumn('model', 'text', (column) => column.notNull())
    .addColumn('effective_at', 'bigint', (column) => column.notNull())
    .addColumn('currency', 'text', (column) => column.notNull())
    .addColumn('is_end', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
  for (const rate of ['input', 'cache_read', 'cache_write_short', 'cache_write_long', 'output'] as const) {
    prices = prices.addColumn(rate, 'bigint', (column) => column.notNull().check(sql`${sql.ref(rate)} >= 0`))
  }
  await prices.execute()
}

async function createUsage(db: Kysely<unknown>, name: string): Promise<void> {
  let table = db.schema
    .createTable(name)
    .addColumn('organization_id', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('project_id', 'text', (column) => column.notNull())
    .addColumn('api_key_id', 'text', (column) => column.notNull())
    .addColumn('model', 'text', (column) => column.notNull())
  const counts = ['requests', 'finished', 'aborted', 'failed', 'reversed', 'unpriced', 'cost_micros'] as const
  for (const count of [...counts, ...tokenCounts]) {
    table = table.addColumn(count, 'bigint', (column) => column.notNull())
  }
  const key = ['organization_id', 'at', 'project_id', 'api_key_id', 'model'] as const
  await table.addPrimaryKeyConstraint(`${name}_key`, [...key]).execute()
}

async function createProgress(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('ledger_progress')
    .addColumn('id', 'integer', (column) => column.primaryKey().check(sql`id = 1`))
    .addColumn('rolled_up_to', 'bigint', (column) => column.notNull())
    .addColumn('deletable_to', 'bigint', (column) => column.notNull())
    .addColumn('kept_from', 'bigint', (column) => column.notNull())
    .addColumn('reconciled_to', 'bigint', (column) => column.notNull())
    .addColumn('reconciled_sums', 'text', (column) => column.notNull())
    .execute()
  await sql`insert into ledger_progress values (1, 0, 0, 0, 0, '{}')`.execute(db)
  await db.schema
    .createTable('reconciliations')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('sequence', 'bigint', (column) => column.notNull())
    .addColumn('is_equal', 'integer', (column) => column.notNull())
    .addColumn('differences', 'text', (column) => column.notNull())
    .execute()
}

const words = 'The ledger is append-only.'

/** The database itself refuses to change a ledger row, and to delete one that the retention job has not released. */
async function guardLedger(db: Kysely<unknown>): Promise<void> {
  for (const statement of isPostgres(db) ? postgresGuards : sqliteGuards) await sql.raw(statement).execute(db)
}

const sqliteGuards = [
  `create trigger ledger_refuses_update before update on ledger
   begin select raise(abort, '${words}'); end`,
  `create trigger ledger_refuses_delete before delete on ledger
   when old.sequence > (select deletable_to from ledger_progress)
   begin select raise(abort, '${words}'); end`,
]

const postgresGuards = [
  `create function ledger_refuse() returns trigger language plpgsql as
   $$ begin raise exception '${words}'; end $$`,
  `create function ledger_refuse_unreleased() returns trigger language plpgsql as
   $$ begin
     if old.sequence > (select deletable_to from ledger_progress) then raise exception '${words}'; end if;
     return old;
   end $$`,
  `create trigger ledger_refuses_update before update on ledger for each row execute function ledger_refuse()`,
  `create trigger ledger_refuses_truncate before truncate on ledger for each statement execute function ledger_refuse()`,
  `create trigger ledger_refuses_delete before delete on ledger for each row execute function ledger_refuse_unreleased()`,
]
