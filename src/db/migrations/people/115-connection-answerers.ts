import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * From what those who answer for an identity provider could give roles to others. Of connections that are there already
 * nobody knows it, nor of those that an older gateway makes: they stand as they did, as an admin's.
 */
export const connectionAnswerers: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('connections')
      .addColumn('answerer_role', 'text', (column) => column.notNull().defaultTo('admin'))
      .execute()
    await db.schema.alterTable('connections').addColumn('answerer_custom', 'text').execute()
  },
}
