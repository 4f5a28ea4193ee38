import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Domains are looked at again and again: when the next time is, when their servers last answered, and since when the record
 * has been missing. One that stands on the operator's word, as the audit says, is not looked at.
 */
export const domainChecks: Migration = {
  async up(db: Kysely<unknown>) {
    for (const column of ['look_at', 'checked_at', 'missing_since']) {
      await db.schema.alterTable('domains').addColumn(column, 'bigint').execute()
    }
    await sql`
      update domains set look_at = verified_at, checked_at = verified_at
      where verified_at is not null
        and id not in (select target from audit where action = 'domains:trust')
    `.execute(db)
  },
}
