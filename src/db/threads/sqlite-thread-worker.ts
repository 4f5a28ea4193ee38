// A thread with a connection to the SQLite file. It runs what it is sent, one statement after the other;
// who sends it goes on meanwhile.

import { parentPort, workerData } from 'node:worker_threads'
import { keepCompiled } from '../../lib/keep-compiled.ts'
import { messageOf } from '../../lib/message-of.ts'
import { connectFile, connectFileToRead, keepStatements } from '../connect-file.ts'
import { extendedSqliteCode } from '../sqlite-errors.ts'

export type ThreadSettings = { readonly path: string; readonly isReader: boolean }

export type Statement = { readonly sql: string; readonly parameters: readonly unknown[] }

/** Null instead of a statement closes the connection and ends the thread. */
export type ThreadRequest = { readonly id: number; readonly statement: Statement } | null

export type StatementResult = {
  readonly rows: unknown[]
  /** Null of a statement that has rows. */
  readonly changes: number | bigint | null
  readonly insertId: number | bigint | null
}

export type StatementFailure = {
  readonly message: string
  /** SQLite's own number of the error, where it is one of SQLite's. */
  readonly errcode: number | null
  /** The driver has refused the values itself. */
  readonly isTypeError: boolean
}

export type ThreadAnswer = { readonly id: number; readonly result: StatementResult | StatementFailure }

keepCompiled()
const { path, isReader } = workerData as ThreadSettings
const file = keepStatements(isReader ? connectFileToRead(path) : connectFile(path))

parentPort?.on('message', (request: ThreadRequest) => {
  if (request === null) {
    file.close()
    parentPort?.close()
    return
  }
  const answer: ThreadAnswer = { id: request.id, result: tryToRun(request.statement) }
  parentPort?.postMessage(answer)
})

function tryToRun({ sql, parameters }: Statement): StatementResult | StatementFailure {
  try {
    const statement = file.prepare(sql)
    if (statement.reader) return { rows: statement.all(parameters), changes: null, insertId: null }
    const { changes, lastInsertRowid } = statement.run(parameters)
    return { rows: [], changes, insertId: lastInsertRowid }
  } catch (error) {
    return describe(error)
  }
}

function describe(error: unknown): StatementFailure {
  return {
    message: messageOf(error),
    errcode: extendedSqliteCode(error),
    isTypeError: error instanceof TypeError,
  }
}
