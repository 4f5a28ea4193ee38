import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** The groups that a provider has last named of somebody, as JSON; null where it has named none. */
export const namedGroups: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('identities').addColumn('named_groups', 'text').execute()
  },
}
