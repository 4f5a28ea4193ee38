import { Worker } from 'node:worker_threads'
import type {
  Statement,
  StatementFailure,
  StatementResult,
  ThreadAnswer,
  ThreadRequest,
  ThreadSettings,
} from './sqlite-thread-worker.ts'

/** A thread with a connection of its own. What was not answered when it ends is rejected. */
export type SqliteThread = {
  hasEnded(): boolean
  run(statement: Statement): Promise<StatementResult>
  /** Waits for what is under way. */
  close(): Promise<void>
  /** Ends the thread as a fault in it would; for tests. */
  kill(): Promise<unknown>
}

export function startSqliteThread(settings: ThreadSettings): SqliteThread {
  const pending = new Map<number, PromiseWithResolvers<StatementResult>>()
  let lastId = 0
  let end: Error | null = null
  const worker = new Worker(new URL('./sqlite-thread-worker.ts', import.meta.url), { workerData: settings })
  const send = (request: ThreadRequest) => worker.postMessage(request)
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))

  worker.on('message', ({ id, result }: ThreadAnswer) => {
    const asked = pending.get(id)
    pending.delete(id)
    if ('rows' in result) asked?.resolve(result)
    else asked?.reject(toError(result))
  })
  // An error is followed by the end, which is where it is told.
  let cause: unknown
  worker.on('error', (error) => (cause = error))
  worker.once('exit', () => {
    end = new Error('The thread that works on the database has ended.', { cause })
    for (const { reject } of pending.values()) reject(end)
    pending.clear()
  })

  return {
    hasEnded: () => end !== null,
    run(statement) {
      if (end !== null) return Promise.reject(end)
      const asked = Promise.withResolvers<StatementResult>()
      lastId += 1
      pending.set(lastId, asked)
      send({ id: lastId, statement })
      return asked.promise
    },
    async close() {
      // Requests are answered in their order, so this comes after all that were made before.
      send(null)
      await exited
    },
    kill: () => worker.terminate(),
  }
}

/** As the driver would have thrown it here. */
function toError({ message, errcode, isTypeError }: StatementFailure): Error {
  if (isTypeError) return new TypeError(message)
  return errcode === null
    ? new Error(message)
    : Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode })
}
