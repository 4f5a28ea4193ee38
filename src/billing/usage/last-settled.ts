import { sql } from 'kysely'
import type { Database } from '../../db/database.ts'
import { isPostgres } from '../../db/is-postgres.ts'
import { pause, systemClock } from '../../lib/clock.ts'

/** Longer than any writer's statement may take: one that goes on is no writer of ours, or is lost. */
const waitMsMax = 35_000
/** A commit takes a few milliseconds. */
const lookEveryMs = 2

/**
 * A sequence number up to which every row is there that ever will be.
 *
 * On PostgreSQL two writers may commit in another order than that of their numbers, so it waits for those who have
 * one: whoever is writing to the ledger when its last row is read. Nobody waits for it in turn. A lock on the table
 * would do the same, but behind one that waits, for a writer that hangs, every other writer would wait as well.
 */
export async function lastSettled(db: Database): Promise<number> {
  if (!isPostgres(db)) return (await readLast(db)) ?? 0
  const { rows } = await sql<{ last: string | null; writers: readonly string[] }>`
    select (select max(sequence) from ledger) as last, array(${writersOfLedger}) as writers`.execute(db)
  const last = Number(rows[0]?.last ?? 0)
  let writers = rows[0]?.writers ?? []
  const startedMs = systemClock.monotonicMs()
  while (writers.length > 0) {
    if (systemClock.monotonicMs() - startedMs > waitMsMax) throw new Error('A writer to the ledger does not end.')
    await pause(systemClock, lookEveryMs)
    writers = await stillWriting(db, writers)
  }
  return last
}

async function readLast(db: Database): Promise<number | undefined> {
  const query = db.selectFrom('ledger').select('sequence').orderBy('sequence', 'desc').limit(1)
  return (await query.executeTakeFirst())?.sequence
}

/**
 * The transactions that write to the ledger, by the lock that each of them takes before it is given a number and gives
 * back after its rows can be seen. A statement reads this later than the rows that it sees.
 */
const writersOfLedger = sql`
  select virtualtransaction from pg_locks
  where locktype = 'relation' and relation = 'ledger'::regclass and mode = 'RowExclusiveLock' and granted
    and database = (select oid from pg_database where datname = current_database()) and pid <> pg_backend_pid()`

async function stillWriting(db: Database, writers: readonly string[]): Promise<readonly string[]> {
  const { rows } = await sql<{ virtualtransaction: string }>`
    ${writersOfLedger} and virtualtransaction in (${sql.join(writers)})`.execute(db)
  return rows.map(({ virtualtransaction }) => virtualtransaction)
}
