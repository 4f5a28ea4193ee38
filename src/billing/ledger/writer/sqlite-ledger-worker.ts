// The thread that writes ledger rows to the SQLite file. A commit waits for the disk, and a thread
// that waits answers nobody: here it is one that has nobody to answer.

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { keepCompiled } from '../../../lib/keep-compiled.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { connectFile } from '../../../db/connect-file.ts'
import { isRefusedBySqlite, sqliteCode } from '../../../db/sqlite-errors.ts'
import type { NewLedgerRow } from './ledger-writer.ts'

export type WorkerSettings = {
  readonly path: string
  /** The size from which on the file counts as a full disk; a test's way to have one. */
  readonly pagesMax?: number
}

/** No rows at all is a probe: it writes and removes something of its own. */
export type WorkerRequest = { readonly id: number; readonly rows: readonly NewLedgerRow[] }

export type WorkerAnswer = {
  readonly id: number
  readonly failure: { readonly message: string; readonly isRowFault: boolean } | null
}

const busy = 5
/**
 * A commit that finds this many pages in SQLite's log copies them to the file, and answers wait for it. Other writers
 * copy from 1,000 pages on, so that little is ever left to this one; without them the log takes 32 MiB at most.
 */
const checkpointPages = 8_192
keepCompiled()
const settings = workerData as WorkerSettings

let sqlite: DatabaseSync | null = null
const statements = new Map<string, StatementSync>()

parentPort?.on('message', ({ id, rows }: WorkerRequest) => {
  const answer: WorkerAnswer = { id, failure: tryToWrite(rows) }
  parentPort?.postMessage(answer)
})

function tryToWrite(rows: readonly NewLedgerRow[]): WorkerAnswer['failure'] {
  try {
    sqlite ??= connect(settings)
    if (rows.length === 0) probe(sqlite)
    else inTransaction(sqlite, (open) => insert(open, rows))
    return null
  } catch (error) {
    const isRowFault = isRefusedBySqlite(error)
    // After a failed write to the disk nobody knows what a connection still holds to be written.
    if (!isRowFault && sqliteCode(error) !== busy) disconnect()
    return { message: messageOf(error), isRowFault }
  }
}

function connect({ path, pagesMax }: WorkerSettings): DatabaseSync {
  const opened = connectFile(path)
  opened.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`)
  if (pagesMax !== undefined) opened.exec(`PRAGMA max_page_count = ${pagesMax}`)
  return opened
}

function insert(open: DatabaseSync, rows: readonly NewLedgerRow[]): void {
  for (const row of rows) {
    const columns = Object.keys(row)
    const list = columns.join(', ')
    let statement = statements.get(list)
    if (statement === undefined) {
      const marks = columns.map(() => '?').join(', ')
      statement = open.prepare(`INSERT INTO ledger (${list}) VALUES (${marks}) ON CONFLICT DO NOTHING`)
      statements.set(list, statement)
    }
    statement.run(...(Object.values(row) as SQLInputValue[]))
  }
}

/** Takes new pages, as rows do sooner or later, and gives them back. */
function probe(open: DatabaseSync): void {
  open.exec('DROP TABLE IF EXISTS storage_probe')
  inTransaction(open, () => {
    open.exec('CREATE TABLE storage_probe (filling BLOB); INSERT INTO storage_probe VALUES (zeroblob(65536))')
  })
  open.exec('DROP TABLE storage_probe')
}

function inTransaction(open: DatabaseSync, work: (open: DatabaseSync) => void): void {
  open.exec('BEGIN IMMEDIATE')
  try {
    work(open)
    open.exec('COMMIT')
  } catch (error) {
    if (open.isTransaction) open.exec('ROLLBACK')
    throw error
  }
}

function disconnect(): void {
  statements.clear()
  try {
    sqlite?.close()
  } catch {
    // The connection is not used again, closed or not.
  }
  sqlite = null
}
