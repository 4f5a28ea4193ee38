// Loaded into a service before its own program, by `NODE_OPTIONS=--import=`: writes to the file that
// ODYSSEY_TEST_STATEMENTS names what its main thread has SQLite do, a line each. Nothing of it is in force
// in the service's other threads and processes.

import { appendFileSync } from 'node:fs'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { isMainThread } from 'node:worker_threads'

const path = process.env['ODYSSEY_TEST_STATEMENTS']
if (isMainThread && path !== undefined && process.argv.includes('serve')) noteStatements(path)

function noteStatements(file: string): void {
  const texts = new WeakMap<StatementSync, string>()
  const note = (text: string) => appendFileSync(file, `${text.trim().replaceAll(/\s+/g, ' ')}\n`)

  const { prepare, exec } = DatabaseSync.prototype
  DatabaseSync.prototype.prepare = function (...asked) {
    const statement = prepare.apply(this, asked)
    texts.set(statement, asked[0])
    return statement
  }
  DatabaseSync.prototype.exec = function (text) {
    note(text)
    exec.call(this, text)
  }
  for (const method of ['run', 'all', 'get', 'iterate'] as const) {
    const original: unknown = StatementSync.prototype[method]
    const noting = function (this: StatementSync, ...values: unknown[]): unknown {
      note(texts.get(this) ?? 'unknown')
      return (original as (...values: unknown[]) => unknown).apply(this, values)
    }
    Object.assign(StatementSync.prototype, { [method]: noting })
  }
}
