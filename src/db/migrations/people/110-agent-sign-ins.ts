import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Coding agents that people sign in to, their tokens, and what organizations set for them. */
export const agentSignIns: Migration = {
  async up(db: Kysely<unknown>) {
    await createSignIns(db)
    await db.schema
      .createTable('agent_tokens')
      .addColumn('token_hash', 'text', (column) => column.primaryKey())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('sign_in_id', 'text', (column) => column.notNull().references('agent_sign_ins.id').onDelete('cascade'))
      .addColumn('organization_id', 'text', (column) => column.notNull())
      .addColumn('api_key_id', 'text', (column) => column.notNull())
      .addColumn('ends_at', 'bigint', (column) => column.notNull())
      .addColumn('used_at', 'bigint')
      .execute()
    await db.schema.createIndex('agent_tokens_of').on('agent_tokens').column('sign_in_id').execute()
    await db.schema
      .createTable('agent_settings')
      .addColumn('organization_id', 'text', (column) => column.notNull())
      .addColumn('project_id', 'text', (column) => column.notNull())
      .addColumn('settings', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('agent_settings_key', ['organization_id', 'project_id'])
      .execute()
    // A member has one for each project, however many agents ask for it at once.
    await db.schema
      .createIndex('agent_keys')
      .unique()
      .on('api_keys')
      .columns(['owner_id', 'project_id'])
      .where(sql`kind`, '=', sql`'agent'`)
      .where(sql`revoked_at`, 'is', sql`null`)
      .execute()
  },
}

async function createSignIns(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('agent_sign_ins')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('device_hash', 'text', (column) => column.notNull().unique())
    .addColumn('code_hash', 'text', (column) => column.notNull().unique())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('client', 'text', (column) => column.notNull())
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('ends_at', 'bigint', (column) => column.notNull())
    .addColumn('polled_at', 'bigint')
    .addColumn('organization_id', 'text')
    .addColumn('project_id', 'text')
    .addColumn('member_id', 'text')
    .addColumn('user_id', 'text')
    .addColumn('api_key_id', 'text')
    .addColumn('connection_id', 'text')
    .addColumn('sso_subject', 'text')
    .addColumn('sso_session', 'text')
    .execute()
  await db.schema.createIndex('agent_sign_ins_user').on('agent_sign_ins').column('user_id').execute()
  await db.schema.createIndex('agent_sign_ins_end').on('agent_sign_ins').column('ends_at').execute()
}
