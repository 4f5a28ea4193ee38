import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What an organization sets for its members: whom to ask for more, and how long a key of its lasts at most. */
export const organizationSettings: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('organizations').addColumn('contact', 'text').execute()
    await db.schema.alterTable('organizations').addColumn('key_days_max', 'integer').execute()
  },
}
