import { Worker } from 'node:worker_threads'
import type { Clock } from '../lib/clock.ts'
import type { JobsLog } from './ledger-jobs.ts'
import type { JobsNews, JobsSettings } from './ledger-jobs-worker.ts'

/** What has ended the thread may end the next one too; nothing that waits for the sums is in a hurry. */
const restartPauseMs = 10_000

export type JobsThreadOptions = JobsSettings & { readonly clock: Clock; readonly log: JobsLog }

/** Does what `startLedgerJobs` does in a thread of its own, for a SQLite file. Returns the way to end it. */
export function startLedgerJobsThread({ clock, log, ...settings }: JobsThreadOptions): () => Promise<void> {
  let isStopped = false
  let cancelRestart = () => {}
  let worker = start()

  function start(): Worker {
    const started = new Worker(new URL('./ledger-jobs-worker.ts', import.meta.url), { workerData: settings })
    started.on('message', ({ fields, words }: JobsNews) => log.error(fields, words))
    started.on('error', (error) => log.error({ error }, 'the thread that rolls the ledger up has failed'))
    started.once('exit', () => {
      if (isStopped) return
      cancelRestart = clock.after(restartPauseMs, () => {
        worker = start()
      })
    })
    return started
  }

  return async () => {
    isStopped = true
    cancelRestart()
    const exited = new Promise<void>((resolve) => {
      if (worker.threadId === -1) resolve()
      else worker.once('exit', () => resolve())
    })
    worker.postMessage('stop')
    await exited
  }
}
