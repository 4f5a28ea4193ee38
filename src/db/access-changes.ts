import { sql, type Transaction } from 'kysely'
import type { Database } from './database.ts'
import { isPostgres } from './is-postgres.ts'
import type { Tables } from './tables.ts'

/** PostgreSQL tells everyone who listens here as soon as a change is committed. */
export const accessChannel = 'odyssey_access'

/** Counts a change to who may do what, in the transaction that makes it, so that every gateway hears of it. */
export async function countAccessChange(transaction: Transaction<Tables>): Promise<void> {
  await transaction
    .updateTable('access_changes')
    .set((expression) => ({ count: expression('count', '+', 1) }))
    .where('id', '=', 1)
    .execute()
  if (isPostgres(transaction)) await sql`select pg_notify(${accessChannel}, '')`.execute(transaction)
}

export async function readAccessChanges(db: Database): Promise<number> {
  const { count } = await db.selectFrom('access_changes').select('count').where('id', '=', 1).executeTakeFirstOrThrow()
  return count
}
