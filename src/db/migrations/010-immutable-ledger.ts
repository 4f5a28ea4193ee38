import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { isPostgres } from '../is-postgres.ts'

/**
 * Keeps SQLite's `INSERT OR REPLACE` from changing a ledger row.
 *
 * It deletes the row that is in its way without asking the trigger that refuses
 * deletion. The row that is there stays and the new one is dropped, as with the
 * `ON CONFLICT DO NOTHING` of the product's own writers. PostgreSQL has no such
 * statement: its `ON CONFLICT DO UPDATE` is refused like any other update.
 */
export const immutableLedger: Migration = {
  async up(db: Kysely<unknown>) {
    if (isPostgres(db)) return
    await sql
      .raw(
        `create trigger ledger_refuses_replace before insert on ledger
         when exists (select 1 from ledger where sequence = new.sequence)
           or exists (select 1 from ledger where request_id = new.request_id and kind = new.kind)
         begin select raise(ignore); end`,
      )
      .execute(db)
  },
}
