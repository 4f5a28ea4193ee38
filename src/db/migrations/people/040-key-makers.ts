import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Management keys that are out of use as long as whoever made them is suspended. */
export const keyMakers: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('management_keys').addColumn('suspended_by', 'text').execute()
    // Looked through whenever somebody leaves.
    for (const table of ['api_keys', 'management_keys']) {
      await db.schema.createIndex(`${table}_by_maker`).on(table).columns(['organization_id', 'created_by']).execute()
    }
  },
}
