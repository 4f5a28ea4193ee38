import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** How much was given up of what a receiver was to be sent, and what last. */
export const givenUp: Migration = {
  async up(db: Kysely<unknown>) {
    for (const table of ['alert_channels', 'audit_sinks']) {
      await db.schema
        .alterTable(table)
        .addColumn('given_up', 'bigint', (column) => column.notNull().defaultTo(0))
        .execute()
      await db.schema.alterTable(table).addColumn('last_given_up', 'text').execute()
    }
  },
}
