import type { Transaction } from 'kysely'
import type { Database } from '../../db/database.ts'
import { isPostgres } from '../../db/is-postgres.ts'
import type { Tables } from '../../db/tables.ts'
import { dayMs } from '../usage/usage-columns.ts'

/** Deleting so many takes a few milliseconds, for which everyone else who writes has to wait. */
const rowsAtOnce = 100

export type RetentionOptions = {
  readonly nowMs: number
  readonly daysMax: number
  /** Between two batches, so that those who write get their turn. */
  pause(): Promise<void>
}

/**
 * Deletes ledger rows that are older than so many whole days, the first ones first.
 *
 * Only rows that are in the rollups and that the reconciliation has counted go,
 * so every sum outlives them. Returns how many went.
 */
export async function deleteOldRows(db: Database, { nowMs, daysMax, pause }: RetentionOptions): Promise<number> {
  const today = nowMs - (nowMs % dayMs)
  const cutoffMs = today - daysMax * dayMs
  let deleted = 0
  for (;;) {
    const batch = await db.transaction().execute((transaction) => deleteBatch(transaction, cutoffMs))
    deleted += batch
    if (batch < rowsAtOnce) return deleted
    await pause()
  }
}

async function deleteBatch(transaction: Transaction<Tables>, cutoffMs: number): Promise<number> {
  const select = transaction.selectFrom('ledger_progress').selectAll()
  const progress = await (isPostgres(transaction) ? select.forUpdate() : select).executeTakeFirstOrThrow()
  const rows = await transaction
    .selectFrom('ledger')
    .select(['sequence', 'at'])
    .where('sequence', '<=', Math.min(progress.rolled_up_to, progress.reconciled_to))
    .orderBy('sequence')
    .limit(rowsAtOnce)
    .execute()
  // The ledger only ever loses its beginning, so that what is left of it has no gaps.
  const firstKept = rows.findIndex(({ at }) => at >= cutoffMs)
  const old = firstKept === -1 ? rows : rows.slice(0, firstKept)
  const last = old.at(-1)
  if (last === undefined) return 0
  await transaction
    .updateTable('ledger_progress')
    .set({ deletable_to: last.sequence, kept_from: Math.max(progress.kept_from, cutoffMs) })
    .execute()
  await transaction.deleteFrom('ledger').where('sequence', '<=', last.sequence).execute()
  await transaction.updateTable('ledger_progress').set({ deletable_to: 0 }).execute()
  return old.length
}
