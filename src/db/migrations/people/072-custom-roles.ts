import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Roles of an organization's own. */
export const customRoles: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('roles')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('organization_id', 'text', (column) => column.notNull().references('organizations.id'))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('base', 'text', (column) => column.notNull())
      .addColumn('permissions', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addUniqueConstraint('roles_names', ['organization_id', 'name'])
      .execute()
    await db.schema.alterTable('members').addColumn('role_id', 'text').execute()
  },
}
