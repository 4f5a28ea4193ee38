import { systemClock, type Clock } from '../../../lib/clock.ts'
import { inTime } from '../../../lib/clock.ts'
import { createTurns } from '../../../lib/turns.ts'
import type { Database } from '../../../db/database.ts'
import { gatherWrites, RowFault } from './gather-writes.ts'
import { insertRows } from './insert-rows.ts'
import type { NewRow, RowWriter, StorageReport } from './row-writer.ts'
import { createReplayer } from './replayer.ts'
import { openSpool } from './spool.ts'

/** A request's last bytes wait for its row: they do not wait longer than this for a slow database. */
const patienceMs = 1_000

/** Some 350,000 rows; hours without a database for all but the busiest. */
const spoolBytesMax = 256 * 1024 * 1024

type Settings = {
  /** Connections of its own, which it closes: what else asks the database must not keep rows waiting. */
  readonly db: Database
  /** The folder of rows that wait for PostgreSQL. */
  readonly folder: string
  readonly report: StorageReport
  readonly clock?: Clock
  readonly bytesMax?: number
}

/**
 * Writes rows to PostgreSQL, or to a file in the data folder while it does not answer.
 *
 * Either way they are durable. What an earlier run has left there is written
 * first. Whether a commit whose answer was lost has happened need not be known:
 * its rows are written once more, and what is there stays as it is.
 */
export async function openPostgresRowWriter(settings: Settings): Promise<RowWriter> {
  const { db, folder, report, clock = systemClock, bytesMax = spoolBytesMax } = settings
  const spool = openSpool(folder, bytesMax)
  const storage = createFaultKeeper(report)
  const inTurn = createTurns()
  const replayer = createReplayer({
    db,
    spool,
    report,
    clock,
    inTurn,
    turnMsMax: patienceMs,
    onDone() {
      storage.clear()
      report.recovered('PostgreSQL has all ledger rows again.')
    },
    async onFailure() {
      if (storage.fault() !== null) await storage.keep(() => spool.probe()).catch(() => {})
    },
  })

  async function commit(rows: readonly NewRow[]): Promise<void> {
    if (spool.fileCount() === 0) {
      const outcome = await insertWithin(rows, { db, clock })
      if (outcome === null) return
      if (outcome instanceof RowFault) throw outcome
      report.failed(outcome, 'PostgreSQL does not take ledger rows: they are kept in the data folder until it does.')
    }
    try {
      await storage.keep(() => spool.append(rows))
    } finally {
      replayer.runSoon()
    }
  }

  if (spool.fileCount() > 0) await replayer.run()
  const gathered = gatherWrites((rows) => inTurn(() => commit(rows)))
  return {
    write: gathered.write,
    fault: storage.fault,
    async close() {
      await gathered.idle()
      await replayer.stop()
      await spool.close()
      await db.destroy()
    },
  }
}

/** Null when the rows are in the database, else why that is not known. */
async function insertWithin(
  rows: readonly NewRow[],
  { db, clock }: { readonly db: Database; readonly clock: Clock },
): Promise<Error | null> {
  try {
    await inTime(clock, patienceMs, insertRows(db, rows))
    return null
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** Remembers why nothing can be written, and reports the beginning and the end of it. */
function createFaultKeeper(report: StorageReport) {
  let fault: Error | null = null
  const clear = () => {
    if (fault !== null) report.recovered('The ledger can be written again.')
    fault = null
  }
  return {
    fault: () => fault,
    clear,
    async keep(write: () => Promise<void>): Promise<void> {
      try {
        await write()
        clear()
      } catch (error) {
        if (fault === null) report.failed(error, 'The ledger cannot be written: new requests are refused until it can.')
        fault = error instanceof Error ? error : new Error(String(error))
        throw error
      }
    },
  }
}
