import { sql, type ColumnDataType, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Directories that tell who the members of an organization are. */
export const directories: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('directories')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('organization_id', 'text', (column) => column.notNull().references('organizations.id'))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('default_role', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('last_seen_at', 'bigint')
      .execute()
    await createIndex(db, 'directories', ['organization_id', 'created_at', 'id'])
    await createTokens(db)
    await createUsers(db)
    await createGroups(db)
    await createConflicts(db)
  },
}

/** A table of what is a directory's own, and goes with it. */
function ownTable(db: Kysely<unknown>, name: string) {
  return db.schema
    .createTable(name)
    .addColumn('directory_id', 'text', (column) => column.notNull().references('directories.id').onDelete('cascade'))
    .addColumn('organization_id', 'text', (column) => column.notNull())
}

async function createIndex(db: Kysely<unknown>, table: string, columns: string[]): Promise<void> {
  await db.schema.createIndex(`${table}_by_${columns[0]}`).on(table).columns(columns).execute()
}

async function createTokens(db: Kysely<unknown>): Promise<void> {
  await ownTable(db, 'directory_tokens')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('token_hash', 'text', (column) => column.notNull().unique())
    .addColumn('last_four', 'text', (column) => column.notNull())
    .addColumn('created_by', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint')
    .addColumn('revoked_at', 'bigint')
    .execute()
  await createIndex(db, 'directory_tokens', ['directory_id'])
}

const kept: readonly (readonly [string, ColumnDataType])[] = [
  ['position', 'bigint'],
  ['attributes', 'text'],
  ['version', 'bigint'],
  ['created_at', 'bigint'],
  ['changed_at', 'bigint'],
]

async function createUsers(db: Kysely<unknown>): Promise<void> {
  let table = ownTable(db, 'directory_users')
    .addColumn('member_id', 'text', (column) => column.primaryKey().references('members.id'))
    .addColumn('user_name', 'text', (column) => column.notNull())
    .addColumn('user_name_key', 'text', (column) => column.notNull())
    .addColumn('external_id', 'text')
    .addColumn('active', 'integer', (column) => column.notNull())
  for (const [name, type] of kept) table = table.addColumn(name, type, (column) => column.notNull())
  await table.addUniqueConstraint('directory_users_names', ['directory_id', 'user_name_key']).execute()
  await createUniques(db, 'directory_users')
}

async function createGroups(db: Kysely<unknown>): Promise<void> {
  let table = ownTable(db, 'directory_groups')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('display_name', 'text', (column) => column.notNull())
    .addColumn('display_name_key', 'text', (column) => column.notNull())
    .addColumn('external_id', 'text')
  for (const [name, type] of kept) table = table.addColumn(name, type, (column) => column.notNull())
  await table.addUniqueConstraint('directory_groups_names', ['directory_id', 'display_name_key']).execute()
  await createUniques(db, 'directory_groups')
  await ownTable(db, 'directory_group_members')
    .addColumn('group_id', 'text', (column) => column.notNull().references('directory_groups.id').onDelete('cascade'))
    .addColumn('member_id', 'text', (column) =>
      column.notNull().references('directory_users.member_id').onDelete('cascade'),
    )
    .addPrimaryKeyConstraint('directory_group_members_key', ['group_id', 'member_id'])
    .execute()
  await createIndex(db, 'directory_group_members', ['member_id'])
  await ownTable(db, 'directory_mappings')
    .addColumn('group_name', 'text', (column) => column.notNull())
    .addColumn('position', 'integer', (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('project_ids', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('directory_mappings_key', ['directory_id', 'group_name'])
    .execute()
}

/** The directory's own names are nobody's twice, where it gives any; and no two have the same place in a list. */
async function createUniques(db: Kysely<unknown>, table: string): Promise<void> {
  await db.schema
    .createIndex(`${table}_external`)
    .unique()
    .on(table)
    .columns(['directory_id', 'external_id'])
    .where(sql.ref('external_id'), 'is not', null)
    .execute()
  await db.schema.createIndex(`${table}_positions`).unique().on(table).columns(['directory_id', 'position']).execute()
}

async function createConflicts(db: Kysely<unknown>): Promise<void> {
  let table = ownTable(db, 'directory_conflicts')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('status', 'integer', (column) => column.notNull())
  for (const name of ['method', 'path', 'detail', 'request_id']) {
    table = table.addColumn(name, 'text', (column) => column.notNull())
  }
  await table.execute()
  await createIndex(db, 'directory_conflicts', ['directory_id', 'at', 'id'])
}
