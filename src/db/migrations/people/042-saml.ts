import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Connections to identity providers that speak SAML, and answers of theirs that wait for the browser that asked. */
export const saml: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('connections')
      .addColumn('kind', 'text', (column) => column.notNull().defaultTo('oidc'))
      .execute()
    await createConnections(db)
    await db.schema
      .createTable('sso_results')
      .addColumn('handle_hash', 'text', (column) => column.primaryKey())
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
  },
}

async function createConnections(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('saml_connections')
    .addColumn('connection_id', 'text', (column) =>
      column.primaryKey().references('connections.id').onDelete('cascade'),
    )
    .addColumn('organization_id', 'text', (column) => column.notNull())
    .addColumn('metadata_url', 'text')
    .addColumn('sign_in_url', 'text', (column) => column.notNull())
    .addColumn('sign_out_url', 'text')
    .addColumn('name_id_format', 'text', (column) => column.notNull())
    .addColumn('email_attribute', 'text')
    .addColumn('name_attribute', 'text')
    .addColumn('verifies_emails', 'integer', (column) => column.notNull())
    .addColumn('forces_sign_in', 'integer', (column) => column.notNull())
    .addColumn('authn_context', 'text')
    .addColumn('provider_initiated', 'text', (column) => column.notNull())
    .addColumn('read_at', 'bigint', (column) => column.notNull())
    .addColumn('failed_at', 'bigint')
    .addColumn('failure', 'text')
    .execute()
  await db.schema
    .createTable('connection_certificates')
    .addColumn('connection_id', 'text', (column) => column.notNull().references('connections.id').onDelete('cascade'))
    .addColumn('sha256', 'text', (column) => column.notNull())
    .addColumn('organization_id', 'text', (column) => column.notNull())
    .addColumn('certificate', 'text', (column) => column.notNull())
    .addColumn('not_after', 'bigint', (column) => column.notNull())
    .addColumn('seen_at', 'bigint', (column) => column.notNull())
    .addColumn('gone_at', 'bigint')
    .addPrimaryKeyConstraint('connection_certificates_key', ['connection_id', 'sha256'])
    .execute()
}
