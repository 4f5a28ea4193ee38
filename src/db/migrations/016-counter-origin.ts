import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Tells of a budget's shared counter with which rows of the ledger it has begun, so that none of them is added again. */
export const counterOrigin: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('limit_counters')
      .addColumn('ledger_up_to', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute()
  },
}
