import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** The class in which requests of a key or an organization wait for their turn; null is what stands for it elsewhere. */
export const prioritiesOfKeys: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('organizations').addColumn('priority', 'text').execute()
    await db.schema.alterTable('api_keys').addColumn('priority', 'text').execute()
  },
}
