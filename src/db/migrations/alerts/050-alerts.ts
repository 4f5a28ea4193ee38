import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Channels, what is to be told over them, and how far each has been told. */
export const alerts: Migration = {
  async up(db: Kysely<unknown>) {
    await createChannels(db)
    await createEvents(db)
    await db.schema
      .createTable('alert_silences')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('organization_id', 'text', (column) => column.notNull())
      .addColumn('topic', 'text')
      .addColumn('from_at', 'bigint', (column) => column.notNull())
      .addColumn('until_at', 'bigint', (column) => column.notNull())
      .addColumn('reason', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('alert_sources')
      .addColumn('organization_id', 'text', (column) => column.primaryKey())
      .addColumn('ledger_up_to', 'bigint', (column) => column.notNull())
      .execute()
  },
}

async function createChannels(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('alert_channels')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('shown_target', 'text', (column) => column.notNull())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .addColumn('topics', 'text', (column) => column.notNull())
    .addColumn('cursor', 'bigint', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('disabled_at', 'bigint')
    .addColumn('failures', 'integer', (column) => column.notNull())
    .addColumn('next_attempt_at', 'bigint', (column) => column.notNull())
    .addColumn('last_error', 'text')
    .addColumn('last_delivered_at', 'bigint')
    .addColumn('lease_holder', 'text')
    .addColumn('lease_until', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('alert_channels_of_organization').on('alert_channels').column('organization_id').execute()
}

async function createEvents(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('alert_streams')
    .addColumn('organization_id', 'text', (column) => column.primaryKey())
    .addColumn('sequence', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('alert_events')
    .addColumn('organization_id', 'text', (column) => column.notNull())
    .addColumn('sequence', 'bigint', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('topic', 'text', (column) => column.notNull())
    .addColumn('channel_id', 'text')
    .addColumn('is_silenced', 'integer', (column) => column.notNull())
    .addColumn('data', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('alert_events_key', ['organization_id', 'sequence'])
    .execute()
  await db.schema.createIndex('alert_events_by_time').on('alert_events').column('at').execute()
  await db.schema
    .createTable('alert_causes')
    .addColumn('organization_id', 'text', (column) => column.notNull())
    .addColumn('topic', 'text', (column) => column.notNull())
    .addColumn('cause', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('alert_causes_key', ['organization_id', 'topic', 'cause'])
    .execute()
}
