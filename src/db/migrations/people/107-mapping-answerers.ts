import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * From what those who say what groups of a provider are here could give roles to others, and whether somebody has linked
 * an identity themselves. Of what is there already nobody knows it, nor of what an older gateway makes: the mappings stand
 * as an admin's, and the identities as linked.
 */
export const mappingAnswerers: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('connections')
      .addColumn('mapper_role', 'text', (column) => column.notNull().defaultTo('admin'))
      .execute()
    await db.schema.alterTable('connections').addColumn('mapper_custom', 'text').execute()
    await db.schema
      .alterTable('identities')
      .addColumn('is_linked', 'integer', (column) => column.notNull().defaultTo(1))
      .execute()
  },
}
