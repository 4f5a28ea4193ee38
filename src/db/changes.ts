// The change feed, as it stands in the database: a counter for each topic, raised in the transaction of every
// change. PostgreSQL tells all listeners as soon as that is committed; SQLite's counters are read.

import { sql, type CompiledQuery, type Transaction } from 'kysely'
import type { Database } from './database.ts'
import { isPostgres } from './is-postgres.ts'
import type { Tables } from './tables.ts'
import type { Topic } from './tables/changes.ts'

export type Counters = Readonly<Record<Topic, number>>

/** The channel of PostgreSQL's notices, each of which says a topic and its counter. */
export const changesChannel = 'odyssey_changes'

/** Raises a topic's counter and returns it. Others who change the same wait until this transaction ends. */
export async function countChange(transaction: Transaction<Tables>, topic: Topic): Promise<number> {
  const { counter } = isPostgres(transaction)
    ? await countAndNotify(transaction, topic)
    : await raise(transaction, topic).executeTakeFirstOrThrow()
  return counter
}

function raise(transaction: Pick<Transaction<Tables>, 'updateTable'>, topic: Topic) {
  return transaction
    .updateTable('changes')
    .set(({ eb }) => ({ counter: eb('counter', '+', 1) }))
    .where('topic', '=', topic)
    .returning('counter')
}

function countAndNotify(transaction: Transaction<Tables>, topic: Topic): Promise<{ readonly counter: number }> {
  return transaction
    .with('raised', (database) => raise(database, topic))
    .selectFrom('raised')
    .select(['counter', sql`pg_notify(${changesChannel}, ${topic} || ' ' || counter)`.as('notified')])
    .executeTakeFirstOrThrow()
}

type CounterRow = { readonly topic: Topic; readonly counter: number }

/** Asked many times a second, so it is put together once. */
const counterQueries = new WeakMap<Database, CompiledQuery<CounterRow>>()

export async function readCounters(db: Database): Promise<Counters> {
  const query = counterQueries.get(db) ?? compileQuery(db)
  const { rows } = await db.executeQuery(query)
  return Object.fromEntries(rows.map(({ topic, counter }) => [topic, counter])) as Counters
}

function compileQuery(db: Database): CompiledQuery<CounterRow> {
  const query = db.selectFrom('changes').select(['topic', 'counter']).compile()
  counterQueries.set(db, query)
  return query
}
