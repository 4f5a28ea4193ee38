import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** People who sign in: what proves who they are, the sessions that follow, and the links that let them in first. */
export const identity: Migration = {
  async up(db: Kysely<unknown>) {
    await createPeople(db)
    await createFactors(db)
    await createSessions(db)
    await createLinks(db)
    const members = () => db.schema.alterTable('members')
    for (const text of ['user_id', 'suspended_by']) await members().addColumn(text, 'text').execute()
    await members().addColumn('suspended_at', 'bigint').execute()
    await members()
      .addColumn('source', 'text', (column) => column.notNull().defaultTo('manual'))
      .execute()
    await db.schema.createIndex('members_by_user').on('members').column('user_id').execute()
    // Whoever leaves has made keys that are nobody's, and those have to be found.
    for (const table of ['api_keys', 'management_keys']) {
      await db.schema.alterTable(table).addColumn('created_by', 'text').execute()
    }
  },
}

async function createPeople(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('users')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('installation_role', 'text')
    .addColumn('preferences', 'text', (column) => column.notNull().defaultTo('{}'))
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('disabled_at', 'bigint')
    .execute()
  await db.schema
    .createTable('user_emails')
    .addColumn('email', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id'))
    .addColumn('is_verified', 'integer', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('user_emails_by_user').on('user_emails').column('user_id').execute()
}

async function createFactors(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('passwords')
    .addColumn('user_id', 'text', (column) => column.primaryKey().references('users.id'))
    .addColumn('phc', 'text', (column) => column.notNull())
    .addColumn('changed_at', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('passkeys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id'))
    .addColumn('rp_id', 'text', (column) => column.notNull())
    .addColumn('public_key', 'text', (column) => column.notNull())
    .addColumn('counter', 'bigint', (column) => column.notNull())
    .addColumn('transports', 'text', (column) => column.notNull())
    .addColumn('is_backed_up', 'integer', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('last_used_at', 'bigint')
    .execute()
  await db.schema.createIndex('passkeys_by_user').on('passkeys').column('user_id').execute()
  await db.schema
    .createTable('totp')
    .addColumn('user_id', 'text', (column) => column.primaryKey().references('users.id'))
    .addColumn('sealed', 'text', (column) => column.notNull())
    .addColumn('last_step', 'bigint', (column) => column.notNull())
    .addColumn('confirmed_at', 'bigint')
    .execute()
  await db.schema
    .createTable('recovery_codes')
    .addColumn('hash', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id'))
    .addColumn('used_at', 'bigint')
    .execute()
  await db.schema.createIndex('recovery_codes_by_user').on('recovery_codes').column('user_id').execute()
  await db.schema
    .createTable('sign_in_failures')
    .addColumn('account', 'text', (column) => column.primaryKey())
    .addColumn('even_at', 'bigint', (column) => column.notNull())
    .execute()
}

async function createSessions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('sessions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('token_hash', 'text', (column) => column.notNull().unique())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id'))
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('origin', 'text', (column) => column.notNull())
    .addColumn('method', 'text', (column) => column.notNull())
    .addColumn('proof_method', 'text', (column) => column.notNull())
    .addColumn('proof_at', 'bigint', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('last_seen_at', 'bigint', (column) => column.notNull())
    .addColumn('ends_at', 'bigint', (column) => column.notNull())
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('agent', 'text', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('sessions_by_user').on('sessions').columns(['user_id', 'created_at']).execute()
  await db.schema
    .createTable('passkey_challenges')
    .addColumn('hash', 'text', (column) => column.primaryKey())
    .addColumn('purpose', 'text', (column) => column.notNull())
    .addColumn('user_id', 'text')
    .addColumn('browser_hash', 'text', (column) => column.notNull())
    .addColumn('ends_at', 'bigint', (column) => column.notNull())
    .execute()
}

async function createLinks(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('one_time_links')
    .addColumn('hash', 'text', (column) => column.primaryKey())
    .addColumn('purpose', 'text', (column) => column.notNull())
    .addColumn('user_id', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('ends_at', 'bigint', (column) => column.notNull())
    .addColumn('used_at', 'bigint')
    .execute()
  await db.schema
    .createTable('invitations')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) => column.notNull().references('organizations.id'))
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('project_ids', 'text', (column) => column.notNull())
    .addColumn('link_hash', 'text', (column) => column.notNull().unique())
    .addColumn('created_by', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('ends_at', 'bigint', (column) => column.notNull())
    .addColumn('accepted_at', 'bigint')
    .addColumn('withdrawn_at', 'bigint')
    .execute()
  await db.schema
    .createIndex('invitations_by_organization')
    .on('invitations')
    .columns(['organization_id', 'created_at', 'id'])
    .execute()
  // One at a time is open for an address, however often somebody is invited.
  await db.schema
    .createIndex('invitations_open')
    .on('invitations')
    .columns(['organization_id', 'email'])
    .unique()
    .where(sql.ref('accepted_at'), 'is', null)
    .where(sql.ref('withdrawn_at'), 'is', null)
    .execute()
}
