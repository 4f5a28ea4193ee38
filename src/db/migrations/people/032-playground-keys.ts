import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Keys without a secret, under which the questions of people in the dashboard count. */
export const playgroundKeys: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('api_keys').addColumn('kind', 'text').execute()
    // A member has one for each project, however many tabs ask for it at once.
    await db.schema
      .createIndex('playground_keys')
      .unique()
      .on('api_keys')
      .columns(['owner_id', 'project_id'])
      .where(sql`kind`, '=', sql`'playground'`)
      .where(sql`revoked_at`, 'is', sql`null`)
      .execute()
  },
}
