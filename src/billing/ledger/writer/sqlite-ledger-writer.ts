import { systemClock, type Clock } from '../../../lib/clock.ts'
import { toError } from '../../../lib/message-of.ts'
import { groupCommits, RowFault } from './group-commit.ts'
import type { LedgerWriter, StorageReport, NewLedgerRow } from './ledger-writer.ts'
import { Worker } from 'node:worker_threads'
import type { WorkerAnswer, WorkerRequest, WorkerSettings } from './sqlite-ledger-worker.ts'

const probePauseMs = 1_000

type Settings = {
  readonly path: string
  readonly report: StorageReport
  readonly clock?: Clock
  /** A test's own. */
  readonly worker?: LedgerWorker
}

/**
 * Writes rows to the SQLite file from a thread of its own.
 *
 * When the disk is full or broken, writes are rejected and `fault` says so until
 * a write, or the probe that is made every second, has passed again.
 */
export function createSqliteLedgerWriter({ path, report, clock = systemClock, worker }: Settings): LedgerWriter {
  const thread = worker ?? startLedgerWorker({ path }, clock)
  let fault: Error | null = null
  let callOff = () => {}

  async function write(rows: Parameters<LedgerWorker['write']>[0]): Promise<void> {
    try {
      await thread.write(rows)
      if (fault !== null) report.recovered('The ledger can be written again.')
      fault = null
    } catch (error) {
      // The database has looked at the rows and would have written better ones.
      if (error instanceof RowFault) throw error
      const reason = toError(error)
      if (fault === null) report.failed(reason, 'The ledger cannot be written: new requests are refused until it can.')
      fault = reason
      callOff()
      callOff = clock.after(probePauseMs, () => fault !== null && void write([]).catch(() => {}))
      throw reason
    }
  }

  const gathered = groupCommits(write)
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

/** A thread that ends this often without having written anything will not come to do so. */
const endsInARowMax = 5
const restartPauseMs = 100

type Pending = WorkerRequest & { readonly resolve: () => void; readonly reject: (error: Error) => void }

export type LedgerWorker = {
  /** Resolves once the rows are on the disk. No rows at all is a probe. */
  write(rows: readonly NewLedgerRow[]): Promise<void>
  close(): Promise<void>
  /** Ends the thread as a fault in it would; for tests. */
  kill(): Promise<unknown>
}

/**
 * A thread that writes rows, and its successors.
 *
 * Should it end, the next one is given again what was not acknowledged.
 */
export function startLedgerWorker(settings: WorkerSettings, clock: Clock): LedgerWorker {
  const pending = new Map<number, Pending>()
  let [lastId, endsInARow, isClosed] = [0, 0, false]
  let worker = start()

  function start(): Worker {
    const started = new Worker(new URL('./sqlite-ledger-worker.ts', import.meta.url), { workerData: settings })
    started.on('message', settle)
    // An error is followed by the end, which is where it is dealt with.
    started.on('error', () => {})
    started.once('exit', () => !isClosed && replace())
    return started
  }

  function settle({ id, failure }: WorkerAnswer): void {
    endsInARow = 0
    const write = pending.get(id)
    pending.delete(id)
    if (failure === null) write?.resolve()
    else write?.reject(failure.isRowFault ? new RowFault(failure.message) : new Error(failure.message))
  }

  function replace(): void {
    endsInARow += 1
    if (endsInARow >= endsInARowMax) rejectAll('The thread that writes the ledger cannot be kept running.')
    clock.after(restartPauseMs, () => {
      if (isClosed) return
      worker = start()
      for (const { id, rows } of pending.values()) worker.postMessage({ id, rows })
    })
  }

  function rejectAll(reason: string): void {
    for (const { reject } of pending.values()) reject(new Error(reason))
    pending.clear()
  }

  return {
    write(rows) {
      if (isClosed) return Promise.reject(new Error('The ledger is closed.'))
      return new Promise((resolve, reject) => {
        const request = { id: (lastId += 1), rows }
        pending.set(request.id, { ...request, resolve, reject })
        worker.postMessage(request)
      })
    },
    async close() {
      isClosed = true
      rejectAll('The ledger is closed.')
      await worker.terminate()
    },
    kill: () => worker.terminate(),
  }
}
