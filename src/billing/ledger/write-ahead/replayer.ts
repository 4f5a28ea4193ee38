import type { Clock } from '../../../lib/clock.ts'
import { inTime } from '../../../lib/clock.ts'
import type { Database } from '../../../db/database.ts'
import { replayOldest, replaySpool } from './replay-spool.ts'
import type { StorageReport } from './row-writer.ts'
import type { Spool } from './spool.ts'

const pauseMs = 1_000

type ReplayerParts = {
  readonly db: Database
  readonly spool: Spool
  readonly report: StorageReport
  readonly clock: Clock
  /** Within it no row is written. */
  inTurn(work: () => Promise<void>): Promise<void>
  /** How long rows may be kept waiting by it. */
  readonly turnMsMax: number
  /** All rows are where they belong. */
  onDone(): void
  onFailure(): Promise<void>
}

export type Replayer = {
  /** Tries once, at once. */
  run(): Promise<void>
  /** Tries after a pause, and again and again until everything is written. */
  runSoon(): void
  stop(): Promise<void>
}

/** Brings what is in the spool to the database, while new rows come. */
export function createReplayer(parts: ReplayerParts): Replayer {
  const { db, spool, report, clock, inTurn, turnMsMax } = parts
  let running: Promise<void> | null = null
  let callOff: (() => void) | null = null

  async function run(): Promise<void> {
    try {
      // Nobody waits for these. Whether PostgreSQL answers at all is found out by the first of them.
      await replayOldest(spool, { db, report })
      await replaySpool(spool, { db, report, filesLeft: 1 })
      await replayLast()
      if (spool.fileCount() > 0) runSoon()
      else parts.onDone()
    } catch {
      // It was reported when it began, and is tried again until it is over.
      await parts.onFailure()
      runSoon()
    }
  }

  /** Under load there is always one more file, unless new rows wait until the last one is written; but not for long. */
  async function replayLast(): Promise<void> {
    let replayed = Promise.resolve()
    await inTurn(() => {
      replayed = replaySpool(spool, { db, report, filesLeft: 0 })
      return inTime(clock, turnMsMax, replayed).catch(() => {})
    })
    await replayed
  }

  function runSoon(): void {
    callOff ??= clock.after(pauseMs, () => {
      callOff = null
      running ??= run().finally(() => {
        running = null
      })
    })
  }

  return {
    run,
    runSoon,
    async stop() {
      callOff?.()
      await running
      callOff?.()
    },
  }
}
