import type { Database } from '../db/database.ts'
import type { Clock } from '../lib/clock.ts'
import { reconcile } from './audits/reconcile.ts'
import { deleteOldRows } from './ledger/retention.ts'
import { rollUp } from './usage/roll-up.ts'

/** What is not rolled up yet is read from the ledger with every query, so it should stay little. */
const rollUpEveryMs = 10_000
const reconcileEveryMs = 3_600_000
/** Between two batches: those who serve requests write and read in the meantime. */
const pauseMs = 20

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
  let cancel = () => {}
  let running = Promise.resolve()
  let reconcileAtMs = clock.monotonicMs() + reconcileEveryMs
  const pause = () =>
    new Promise<void>((resolve, reject) => {
      if (isStopped) reject(new Stopped())
      else clock.after(pauseMs, resolve)
    })

  async function work(): Promise<void> {
    await rollUp(db, pause)
    if (clock.monotonicMs() < reconcileAtMs) return
    reconcileAtMs = clock.monotonicMs() + reconcileEveryMs
    const { sequence, differences } = await reconcile({ db, clock }, pause)
    if (differences.length > 0) {
      log.error({ sequence, differences }, 'the sums of the ledger and of its rollups differ; see odyssey bill verify')
      // What could still show which of them is wrong is not deleted.
      return
    }
    if (ledgerDaysMax !== null) await deleteOldRows(db, { nowMs: clock.nowMs(), daysMax: ledgerDaysMax, pause })
  }

  function workSoon(): void {
    cancel = clock.after(rollUpEveryMs, () => {
      running = work()
        .catch((error: unknown) => {
          if (!(error instanceof Stopped)) log.error({ error }, 'the ledger could not be rolled up')
        })
        .then(() => {
          if (!isStopped) workSoon()
        })
    })
  }

  workSoon()
  return async () => {
    isStopped = true
    cancel()
    await running
  }
}

class Stopped extends Error {
  override readonly name = 'Stopped'
}
