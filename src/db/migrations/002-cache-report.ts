import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Why a request was served from the cache as far as it was; rows from before do not know. */
export const cacheReport: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('ledger').addColumn('cache_source', 'text').execute()
    await db.schema.alterTable('ledger').addColumn('cache_differs_at', 'bigint').execute()
    await db.schema.alterTable('ledger').addColumn('cache_differs_in', 'text').execute()
  },
}
