import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { isPostgres } from '../is-postgres.ts'

/**
 * Refuses what SQLite's `INSERT OR REPLACE` would put in the place of a ledger row, instead of dropping it.
 *
 * SQLite asks this trigger for `ON CONFLICT DO NOTHING` too, by which the product's own writers give again what they
 * are not sure to have written. Such a row says what is there already, and is dropped; one that says anything else
 * would be a change. When a reversal was made may differ: of two that are made at once, the first is there.
 */
export const refusedReplacements: Migration = {
  async up(db: Kysely<unknown>) {
    if (isPostgres(db)) return
    await sql.raw('drop trigger ledger_refuses_replace').execute(db)
    const isSame = compared.map((column) => `old.${column} is new.${column}`).join(' and ')
    const inTheWay = `from ledger as old where
      (old.sequence = new.sequence or (old.request_id = new.request_id and old.kind = new.kind))`
    await sql
      .raw(
        `create trigger ledger_refuses_replace before insert on ledger
         when exists (select 1 ${inTheWay})
         begin
           select raise(abort, 'The ledger is append-only.') where exists (select 1 ${inTheWay}
             and not (${isSame} and (old.kind = 'reversal' or old.at = new.at)));
           select raise(ignore);
         end`,
      )
      .execute(db)
  },
}

/** What a row is billed by, and to whom. */
const compared = [
  'request_id',
  'kind',
  'organization_id',
  'project_id',
  'api_key_id',
  'model',
  'outcome',
  'input_uncached',
  'input_cache_read',
  'input_cache_write',
  'input_cache_write_long',
  'output',
  'price_id',
  'cost_micros',
  'cost_rest_picos',
] as const
