import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Whose word a row's counts are; null, as in every row before, for this service's own. */
export const countSource: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('ledger').addColumn('count_source', 'text').execute()
  },
}
