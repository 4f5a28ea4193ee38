import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Why a pool has chosen the replica that a row names; null in every row before. */
export const routingReason: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('ledger').addColumn('routing', 'text').execute()
  },
}
