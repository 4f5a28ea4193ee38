import { Worker } from 'node:worker_threads'
import type { Clock } from '../../../lib/clock.ts'
import { RowFault } from './gather-writes.ts'
import type { NewRow } from './row-writer.ts'
import type { WorkerAnswer, WorkerRequest, WorkerSettings } from './sqlite-row-worker.ts'

/** A thread that ends this often without having written anything will not come to do so. */
const endsInARowMax = 5
const restartPauseMs = 100

type Pending = WorkerRequest & { readonly resolve: () => void; readonly reject: (error: Error) => void }

export type RowWorker = {
  /** Resolves once the rows are on the disk. No rows at all is a probe. */
  write(rows: readonly NewRow[]): Promise<void>
  close(): Promise<void>
  /** Ends the thread as a fault in it would; for tests. */
  kill(): Promise<unknown>
}

/**
 * A thread that writes rows, and its successors.
 *
 * Should it end, the next one is given again what was not acknowledged.
 */
export function startRowWorker(settings: WorkerSettings, clock: Clock): RowWorker {
  const pending = new Map<number, Pending>()
  let [lastId, endsInARow, isClosed] = [0, 0, false]
  let worker = start()

  function start(): Worker {
    const started = new Worker(new URL('./sqlite-row-worker.ts', import.meta.url), { workerData: settings })
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
