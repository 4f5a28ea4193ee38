import { systemClock, type Clock } from '../../../lib/clock.ts'
import { gatherWrites, RowFault } from './gather-writes.ts'
import { startRowWorker, type RowWorker } from './row-worker.ts'
import type { RowWriter, StorageReport } from './row-writer.ts'

const probePauseMs = 1_000

type Settings = {
  readonly path: string
  readonly report: StorageReport
  readonly clock?: Clock
  /** A test's own. */
  readonly worker?: RowWorker
}

/**
 * Writes rows to the SQLite file from a thread of its own.
 *
 * When the disk is full or broken, writes are rejected and `fault` says so until
 * a write, or the probe that is made every second, has passed again.
 */
export function createSqliteRowWriter({ path, report, clock = systemClock, worker }: Settings): RowWriter {
  const thread = worker ?? startRowWorker({ path }, clock)
  let fault: Error | null = null
  let callOff = () => {}

  async function write(rows: Parameters<RowWorker['write']>[0]): Promise<void> {
    try {
      await thread.write(rows)
      if (fault !== null) report.recovered('The ledger can be written again.')
      fault = null
    } catch (error) {
      // The database has looked at the rows and would have written better ones.
      if (error instanceof RowFault) throw error
      const reason = error instanceof Error ? error : new Error(String(error))
      if (fault === null) report.failed(reason, 'The ledger cannot be written: new requests are refused until it can.')
      fault = reason
      callOff()
      callOff = clock.after(probePauseMs, () => fault !== null && void write([]).catch(() => {}))
      throw reason
    }
  }

  const gathered = gatherWrites(write)
  return {
    write: gathered.write,
    fault: () => fault,
    async close() {
      await gathered.idle()
      callOff()
      await thread.close()
    },
  }
}
