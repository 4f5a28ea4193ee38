import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Keeps what of a cost is less than a micro-unit, in the ledger and in its sums.
 *
 * What is there stays as it was billed, in whole micro-units: in the ledger, whose rows never change, the rest is null
 * for costs that were rounded when they were written, and in the sums of these there is none.
 */
export const exactCosts: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('ledger').addColumn('cost_rest_picos', 'bigint').execute()
    for (const table of ['usage_hours', 'usage_days']) {
      await db.schema
        .alterTable(table)
        .addColumn('cost_rest_picos', 'bigint', (column) => column.notNull().defaultTo(0))
        .execute()
    }
  },
}
