import type { Database } from '../db/database.ts'
import { every, pause, type Clock } from '../lib/clock.ts'
import { deleteOldRefusals } from './refusals/refusals.ts'
import { findUninvoicedFrom } from './invoices/uninvoiced.ts'
import { reconcile } from './audits/reconcile.ts'
import { rollUp } from './usage/roll-up.ts'
import { deleteOldAttributions, rollUpAttributions } from './attribution/roll-up-attributions.ts'
import type { Transaction } from 'kysely'
import { isPostgres } from '../db/is-postgres.ts'
import type { Tables } from '../db/tables.ts'
import { dayMs } from './usage/usage-columns.ts'

/** Every query reads from the ledger the rows that are not rolled up yet, so they should stay few. */
const rollUpEveryMs = 10_000
const reconcileEveryMs = 3_600_000
/** Between two batches: those who serve requests write and read in the meantime. */
const pauseMs = 20

/** Refused requests are counted to see what goes on, and billed to nobody. */
const refusalDaysMax = 90

/** Faults are told; all else goes without saying. */
export type JobsLog = { error(fields: Readonly<Record<string, unknown>>, words: string): void }

export type LedgerJobsOptions = {
  readonly db: Database
  readonly clock: Clock
  readonly log: JobsLog
  /** Null keeps every row. */
  readonly ledgerDaysMax: number | null
}

/** Rolls the ledger up every few seconds, and once an hour compares the sums and deletes what is old. Returns the way to end it. */
export function startLedgerJobs({ db, clock, log, ledgerDaysMax }: LedgerJobsOptions): () => Promise<void> {
  let isStopped = false
  let reconcileAtMs = clock.monotonicMs() + reconcileEveryMs
  const pauseOrStop = () => (isStopped ? Promise.reject(new Stopped()) : pause(clock, pauseMs))

  async function work(): Promise<void> {
    await rollUp(db, { pause: pauseOrStop, clock })
    await rollUpAttributions(db, pauseOrStop)
    if (clock.monotonicMs() < reconcileAtMs) return
    reconcileAtMs = clock.monotonicMs() + reconcileEveryMs
    await deleteOldRefusals(db, clock.nowMs() - refusalDaysMax * dayMs)
    const { sequence, differences } = await reconcile({ db, clock }, pauseOrStop)
    if (differences.length > 0) {
      log.error({ sequence, differences }, 'the sums of the ledger and of its rollups differ; see odyssey bill verify')
      // Rows that could still show which sum is wrong are not deleted.
      return
    }
    if (ledgerDaysMax !== null)
      await deleteOldRows(db, { nowMs: clock.nowMs(), daysMax: ledgerDaysMax, pause: pauseOrStop })
  }

  const stop = every(clock, rollUpEveryMs, () =>
    work().catch((error: unknown) => {
      if (!(error instanceof Stopped)) log.error({ error }, 'the ledger could not be rolled up')
    }),
  )
  return () => {
    isStopped = true
    return stop()
  }
}

class Stopped extends Error {
  override readonly name = 'Stopped'
}

/** Deleting this many rows takes a few milliseconds, for which every other writer waits. */
const rowsAtOnce = 100

export type RetentionOptions = {
  readonly nowMs: number
  readonly daysMax: number
  /** Between two batches, so that those who write get their turn. */
  pause(): Promise<void>
}

/**
 * Deletes ledger rows that are older than `daysMax` whole days and belong to months that are invoiced, the oldest first.
 *
 * Only rows that are in the rollups and that the reconciliation has counted are deleted,
 * so that every sum outlives them. What was said in their requests goes with them. Returns how many were.
 */
export async function deleteOldRows(db: Database, { nowMs, daysMax, pause }: RetentionOptions): Promise<number> {
  const today = nowMs - (nowMs % dayMs)
  const cutoffMs = Math.min(today - daysMax * dayMs, await findUninvoicedFrom(db, nowMs))
  let deleted = 0
  for (;;) {
    const batch = await db.transaction().execute((transaction) => deleteBatch(transaction, cutoffMs))
    deleted += batch
    if (batch < rowsAtOnce) break
    await pause()
  }
  await deleteOldAttributions(db, cutoffMs)
  return deleted
}

async function deleteBatch(transaction: Transaction<Tables>, cutoffMs: number): Promise<number> {
  const select = transaction.selectFrom('ledger_progress').selectAll()
  const progress = await (isPostgres(transaction) ? select.forUpdate() : select).executeTakeFirstOrThrow()
  const rows = await transaction
    .selectFrom('ledger')
    .select(['sequence', 'at', 'request_id'])
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
  // Who may read what was said is told by the row: without it nobody could read or find it, and it would only lie there.
  const requestIds = old.map(({ request_id: id }) => id)
  await transaction.deleteFrom('recordings').where('request_id', 'in', requestIds).execute()
  await transaction.deleteFrom('ledger').where('sequence', '<=', last.sequence).execute()
  await transaction.updateTable('ledger_progress').set({ deletable_to: 0 }).execute()
  return old.length
}
