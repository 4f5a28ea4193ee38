import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** From where on a channel is told of the topics that were added to it. */
export const topicStarts: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('alert_channels').addColumn('topic_starts', 'text').execute()
  },
}
