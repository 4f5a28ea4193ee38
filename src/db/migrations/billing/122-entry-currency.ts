import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** The currency that an entry of an account was made in; of those of before it is not known. */
export const entryCurrency: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('account_entries').addColumn('currency', 'text').execute()
  },
}
