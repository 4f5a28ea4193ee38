import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Members, roles, keys with rules of their own, and a counter by which gateways notice changes to them. */
export const tenancy: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('organizations').addColumn('disabled_at', 'bigint').execute()
    await db.schema.alterTable('projects').addColumn('archived_at', 'bigint').execute()
    await db.schema.createIndex('projects_by_organization').on('projects').column('organization_id').execute()
    await createMembers(db)
    await extendApiKeys(db)
    await createManagementKeys(db)
    await db.schema
      .createTable('access_changes')
      .addColumn('id', 'bigint', (column) => column.primaryKey())
      .addColumn('count', 'bigint', (column) => column.notNull())
      .execute()
    await sql`insert into access_changes (id, count) values (1, 0)`.execute(db)
  },
}

async function createMembers(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('members')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) => column.notNull().references('organizations.id'))
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('removed_at', 'bigint')
    .execute()
  // Whoever was removed may come back, as somebody new.
  await db.schema
    .createIndex('members_by_email')
    .on('members')
    .columns(['organization_id', 'email'])
    .unique()
    .where(sql.ref('removed_at'), 'is', null)
    .execute()
  await db.schema
    .createTable('project_members')
    .addColumn('organization_id', 'text', (column) => column.notNull().references('organizations.id'))
    .addColumn('project_id', 'text', (column) => column.notNull().references('projects.id'))
    .addColumn('member_id', 'text', (column) => column.notNull().references('members.id'))
    .addPrimaryKeyConstraint('project_members_key', ['member_id', 'project_id'])
    .execute()
}

async function extendApiKeys(db: Kysely<unknown>): Promise<void> {
  const table = () => db.schema.alterTable('api_keys')
  for (const time of ['expires_at', 'disabled_at', 'last_used_at']) await table().addColumn(time, 'bigint').execute()
  const texts = ['owner_id', 'allowed_models', 'allowed_endpoints', 'allowed_addresses', 'rotated_from']
  for (const text of texts) await table().addColumn(text, 'text').execute()
  await table()
    .addColumn('quota_id', 'text', (column) => column.notNull().defaultTo(''))
    .execute()
  await sql`update api_keys set quota_id = id`.execute(db)
  await db.schema
    .createIndex('api_keys_by_organization')
    .on('api_keys')
    .columns(['organization_id', 'created_at', 'id'])
    .execute()
}

async function createManagementKeys(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('management_keys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) => column.references('organizations.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('key_hash', 'text', (column) => column.notNull().unique())
    .addColumn('last_four', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint')
    .addColumn('revoked_at', 'bigint')
    .execute()
}
