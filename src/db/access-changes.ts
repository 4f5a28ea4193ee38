import { sql, type CompiledQuery, type Transaction } from 'kysely'
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

type Counted = { readonly count: number }

/** Asked many times a second, so it is put together once. */
const countQueries = new WeakMap<Database, CompiledQuery<Counted>>()

export async function readAccessChanges(db: Database): Promise<number> {
  const query = countQueries.get(db) ?? compileCountQuery(db)
  const [row] = (await db.executeQuery(query)).rows
  if (row === undefined) throw new Error('The row of access_changes is missing.')
  return row.count
}

function compileCountQuery(db: Database): CompiledQuery<Counted> {
  const query = db.selectFrom('access_changes').select('count').where('id', '=', 1).compile()
  countQueries.set(db, query)
  return query
}
