import { messageOf } from '../../../lib/message-of.ts'
import type { Database } from '../../../db/database.ts'
import { isPostgres } from '../../../db/is-postgres.ts'
import { isRefusedBySqlite } from '../../../db/sqlite-errors.ts'
import { groupCommits, RowFault } from './group-commit.ts'
import type { NewLedgerRow, LedgerWriter } from './ledger-writer.ts'

/** Throws a `RowFault` where the rows are at fault and not the database. */
export async function insertRows(db: Database, rows: readonly NewLedgerRow[]): Promise<void> {
  try {
    await db
      .insertInto('ledger')
      .values(rows)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  } catch (error) {
    if (isPostgres(db) ? isRefusedByPostgres(error) : isRefusedBySqlite(error)) throw toRowFault(error)
    throw error
  }
}

export function toRowFault(error: unknown): RowFault {
  return new RowFault(messageOf(error), { cause: error })
}

/** Classes 22 and 23 of the SQL standard: the values cannot be stored, or break a constraint. */
export function isRefusedByPostgres(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^2[23][0-9A-Z]{3}$/.test(String(error.code))
}

/** Writes with the connection at hand; for a database in memory, which nothing else can reach. */
export function createDirectLedgerWriter(db: Database): LedgerWriter {
  const { write, idle } = groupCommits((rows) => insertRows(db, rows))
  return { write, fault: () => null, close: idle }
}
