import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Identity providers of organizations, whom they mean, and the sessions that begin with them. */
export const singleSignOn: Migration = {
  async up(db: Kysely<unknown>) {
    await createConnections(db)
    await createIdentities(db)
    await createFlows(db)
    await createDomains(db)
    for (const column of ['connection_id', 'sso_subject', 'sso_session']) {
      await db.schema.alterTable('sessions').addColumn(column, 'text').execute()
    }
    await db.schema.createIndex('sessions_by_connection').on('sessions').column('connection_id').execute()
  },
}

async function createConnections(db: Kysely<unknown>): Promise<void> {
  const table = db.schema.createTable('connections').addColumn('id', 'text', (column) => column.primaryKey())
  const texts = [
    'name',
    'state',
    'issuer',
    'client_id',
    'secret_sealed',
    'token_auth',
    'signing_algorithm',
    'scopes',
    'groups_claim',
    'default_role',
  ]
  let wider = table.addColumn('organization_id', 'text', (column) => column.notNull().references('organizations.id'))
  for (const name of texts) wider = wider.addColumn(name, 'text', (column) => column.notNull())
  await wider
    .addColumn('tenant', 'text')
    .addColumn('makes_members', 'integer', (column) => column.notNull())
    .addColumn('enforced_at', 'bigint')
    .addColumn('break_glass_id', 'text')
    .addColumn('tested_by', 'text')
    .addColumn('tested_at', 'bigint')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('connections_by_organization')
    .on('connections')
    .columns(['organization_id', 'created_at', 'id'])
    .execute()
  // An organization is entered by one connection alone, or by any.
  await db.schema
    .createIndex('connections_enforced')
    .unique()
    .on('connections')
    .column('organization_id')
    .where(sql.ref('enforced_at'), 'is not', null)
    .execute()
  await db.schema
    .createTable('group_mappings')
    .addColumn('connection_id', 'text', (column) => column.notNull().references('connections.id').onDelete('cascade'))
    .addColumn('organization_id', 'text', (column) => column.notNull())
    .addColumn('group_name', 'text', (column) => column.notNull())
    .addColumn('position', 'integer', (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('project_ids', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('group_mappings_key', ['connection_id', 'group_name'])
    .execute()
}

async function createIdentities(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('identities')
    .addColumn('connection_id', 'text', (column) => column.notNull().references('connections.id').onDelete('cascade'))
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('organization_id', 'text', (column) => column.notNull())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id'))
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('last_seen_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('identities_key', ['connection_id', 'subject'])
    .execute()
  await db.schema.createIndex('identities_by_user').on('identities').column('user_id').execute()
}

async function createFlows(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('sso_flows')
    .addColumn('state_hash', 'text', (column) => column.primaryKey())
    .addColumn('connection_id', 'text', (column) => column.notNull().references('connections.id').onDelete('cascade'))
    .addColumn('organization_id', 'text', (column) => column.notNull())
    .addColumn('browser_hash', 'text', (column) => column.notNull())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .addColumn('next', 'text', (column) => column.notNull())
    .addColumn('user_id', 'text')
    .addColumn('is_proof', 'integer', (column) => column.notNull())
    .addColumn('ends_at', 'bigint', (column) => column.notNull())
    .addColumn('used_at', 'bigint')
    .execute()
  // The primary key is the lock: of two gateways that are handed the same message one finds it there.
  await db.schema
    .createTable('used_messages')
    .addColumn('connection_id', 'text', (column) => column.notNull().references('connections.id').onDelete('cascade'))
    .addColumn('message_id', 'text', (column) => column.notNull())
    .addColumn('ends_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('used_messages_key', ['connection_id', 'message_id'])
    .execute()
  await db.schema
    .createTable('login_attempts')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('connection_id', 'text', (column) => column.notNull().references('connections.id').onDelete('cascade'))
    .addColumn('organization_id', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('outcome', 'text', (column) => column.notNull())
    .addColumn('code', 'text')
    .addColumn('user_id', 'text')
    .addColumn('request_id', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('login_attempts_by_connection')
    .on('login_attempts')
    .columns(['connection_id', 'at', 'id'])
    .execute()
}

async function createDomains(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('domains')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) => column.notNull().references('organizations.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('token', 'text', (column) => column.notNull())
    .addColumn('verified_at', 'bigint')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('domains_of_organization', ['organization_id', 'name'])
    .execute()
  // Anybody may say that a domain is theirs; one has shown it.
  await db.schema
    .createIndex('domains_verified')
    .unique()
    .on('domains')
    .column('name')
    .where(sql.ref('verified_at'), 'is not', null)
    .execute()
}
