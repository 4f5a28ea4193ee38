import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Keeps of a budget who set it, as of a limit. Nobody noted it for those that are there: they count as the organization's,
 * which could change them until now, and become the installation's when it sets them anew.
 */
export const budgetSetters: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('budgets')
      .addColumn('set_by', 'text', (column) => column.notNull().defaultTo('organization'))
      .execute()
  },
}
