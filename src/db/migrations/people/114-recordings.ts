import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What is said in a project's requests, kept for as long as an owner has asked for. */
export const recordings: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('projects').addColumn('recorded_until', 'bigint').execute()
    await db.schema
      .alterTable('projects')
      .addColumn('recording_days', 'integer', (column) => column.notNull().defaultTo(7))
      .execute()
    await db.schema
      .createTable('recordings')
      .addColumn('request_id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('organization_id', 'text', (column) => column.notNull())
      .addColumn('project_id', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('ends_at', 'bigint', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('bytes', 'integer', (column) => column.notNull())
      .addColumn('content', 'text')
      .execute()
    await db.schema.createIndex('recordings_by_end').on('recordings').column('ends_at').execute()
    await db.schema
      .createIndex('recordings_by_project')
      .on('recordings')
      .columns(['organization_id', 'project_id', 'ends_at', 'bytes'])
      .execute()
  },
}
