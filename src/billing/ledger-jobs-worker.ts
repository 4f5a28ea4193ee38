// The thread that works on the ledger of a SQLite file: sums and comparisons take milliseconds at a time,
// in which a thread that serves could not answer anybody.

import { parentPort, workerData } from 'node:worker_threads'
import { openSqliteUnhurried } from '../db/connect-sqlite.ts'
import { systemClock } from '../lib/clock.ts'
import { keepCompiled } from '../lib/keep-compiled.ts'
import { shrinkAfterLoading } from '../lib/memory-return.ts'
import { startLedgerJobs } from './ledger-jobs.ts'

export type JobsSettings = { readonly path: string; readonly ledgerDaysMax: number | null }

/** An error to be logged. */
export type JobsNews = { readonly fields: Readonly<Record<string, unknown>>; readonly words: string }

keepCompiled()
shrinkAfterLoading()
const { path, ledgerDaysMax } = workerData as JobsSettings

// A sum is made of rows that are on the disk: should one be lost in a power cut, it is made again.
const db = openSqliteUnhurried(path)
const log = { error: (fields: JobsNews['fields'], words: string) => parentPort?.postMessage({ fields, words }) }
const stop = startLedgerJobs({ db, clock: systemClock, log, ledgerDaysMax })

parentPort?.once('message', () => {
  void stop().then(async () => {
    await db.destroy()
    parentPort?.close()
  })
})
