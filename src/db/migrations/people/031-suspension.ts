import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Members whose keys are out of use until they are restored, and alerts that somebody has taken note of. */
export const suspension: Migration = {
  async up(db: Kysely<unknown>) {
    // Only these keys come back with their member: others were disabled by somebody for a reason of their own.
    await db.schema.alterTable('api_keys').addColumn('suspended_by', 'text').execute()
    await db.schema.alterTable('budget_alerts').addColumn('acknowledged_at', 'bigint').execute()
    await db.schema.alterTable('budget_alerts').addColumn('acknowledged_by', 'text').execute()
  },
}
