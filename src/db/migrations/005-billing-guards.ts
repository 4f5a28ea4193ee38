import { sql, type Kysely } from 'kysely'
import { isPostgres } from '../is-postgres.ts'

const words = 'The ledger is append-only.'

/** The database itself refuses to change a ledger row, and to delete one that the retention job has not released. */
export async function guardLedger(db: Kysely<unknown>): Promise<void> {
  for (const statement of isPostgres(db) ? postgresGuards : sqliteGuards) await sql.raw(statement).execute(db)
}

const sqliteGuards = [
  `create trigger ledger_refuses_update before update on ledger
   begin select raise(abort, '${words}'); end`,
  `create trigger ledger_refuses_delete before delete on ledger
   when old.sequence > (select deletable_to from ledger_progress)
   begin select raise(abort, '${words}'); end`,
]

const postgresGuards = [
  `create function ledger_refuse() returns trigger language plpgsql as
   $$ begin raise exception '${words}'; end $$`,
  `create function ledger_refuse_unreleased() returns trigger language plpgsql as
   $$ begin
     if old.sequence > (select deletable_to from ledger_progress) then raise exception '${words}'; end if;
     return old;
   end $$`,
  `create trigger ledger_refuses_update before update on ledger for each row execute function ledger_refuse()`,
  `create trigger ledger_refuses_truncate before truncate on ledger for each statement execute function ledger_refuse()`,
  `create trigger ledger_refuses_delete before delete on ledger for each row execute function ledger_refuse_unreleased()`,
]
