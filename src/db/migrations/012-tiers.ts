import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * The limits of each usage tier, and the tier of each organization.
 *
 * Organizations that are there already go on as they were: in the tier whose
 * limits are shown and refuse nothing. Limits that are there were set by whoever
 * runs the installation, as far as anybody knows.
 */
export const tiers: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('tier_limits')
      .addColumn('tier', 'text', (column) => column.notNull())
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('input_tokens_per_minute', 'bigint')
      .addColumn('output_tokens_per_minute', 'bigint')
      .addColumn('requests_per_minute', 'bigint')
      .addColumn('is_requests_enforced', 'integer', (column) => column.notNull())
      .addColumn('concurrency', 'bigint')
      .addColumn('cached_read_percent', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('tier_limits_key', ['tier', 'model'])
      .execute()
    for (const [tier, times] of Object.entries(multiples)) {
      for (const [model, [input, output, requests]] of Object.entries(firstTier)) {
        await sql`
          insert into tier_limits (tier, model, input_tokens_per_minute, output_tokens_per_minute,
            requests_per_minute, is_requests_enforced, cached_read_percent)
          values (${tier}, ${model}, ${input * times}, ${output * times}, ${requests * times}, 0, 10)`.execute(db)
      }
    }
    await db.schema
      .alterTable('organizations')
      .addColumn('tier', 'text', (column) => column.notNull().defaultTo('internal'))
      .execute()
    await db.schema
      .alterTable('limits')
      .addColumn('set_by', 'text', (column) => column.notNull().defaultTo('installation'))
      .execute()
  },
}

/** Tokens of prompts and of answers, and requests, in a minute. The reasons stand in docs/decisions/limits.md. */
const firstTier = {
  'clarke-1.0': [1_000_000, 100_000, 600],
  'hal-1.0': [500_000, 100_000, 300],
  'tycho-1.0': [1_000_000, 200_000, 1_200],
} as const

/** What the other tiers have, in multiples of the first. */
const multiples = { 'tier-1': 1, 'tier-2': 2, 'tier-3': 5, 'tier-4': 20, internal: 100 } as const
