import { Worker } from 'node:worker_threads'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SelectQueryNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { Database } from '../database.ts'
import type { Tables } from '../tables.ts'
import { createTurns } from '../../lib/turns.ts'
import type {
  Statement,
  StatementFailure,
  StatementResult,
  ThreadAnswer,
  ThreadRequest,
  ThreadSettings,
} from './sqlite-thread-worker.ts'

/**
 * Opens the SQLite file for a process that serves. It is there and has its schema.
 *
 * SQLite works while its caller waits, and a commit waits for the disk. Here it
 * works in threads of its own: whoever asks goes on meanwhile, as with PostgreSQL.
 */
export function openThreadedSqlite(path: string): Database {
  return useDriver(new ThreadedDriver(path))
}

/** With a driver that a test has in its hands. */
export function useDriver(driver: ThreadedDriver): Database {
  return new Kysely<Tables>({ dialect: dialectOf(driver) })
}

function dialectOf(driver: ThreadedDriver): Dialect {
  return {
    createDriver: () => driver,
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new ThreadedAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  }
}

/** The driver itself sees to it that one writes at a time, and that readers need not wait for that one. */
class ThreadedAdapter extends SqliteAdapter {
  override get supportsMultipleConnections() {
    return true
  }
}

/** Statements made by hand say by their first word that they only read. */
const selects = /^\s*select\b/i

/** Sends statements to two threads: to the reader what only reads, outside of a transaction, and all else to the writer. */
export class ThreadedDriver implements Driver {
  readonly #path: string
  readonly #turns = createTurns()
  #reader: SqliteThread
  #writer: SqliteThread
  readonly #inUse = new Set<ThreadedConnection>()
  #isClosed = false
  #onUnused = () => {}

  constructor(path: string) {
    this.#path = path
    this.#writer = startSqliteThread({ path, isReader: false })
    this.#reader = startSqliteThread({ path, isReader: true })
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<ThreadedConnection> {
    if (this.#isClosed) throw new Error('The database is closed.')
    const connection = new ThreadedConnection(this)
    this.#inUse.add(connection)
    return connection
  }

  beginTransaction(connection: ThreadedConnection): Promise<void> {
    return connection.begin()
  }

  commitTransaction(connection: ThreadedConnection): Promise<void> {
    return connection.run('commit')
  }

  rollbackTransaction(connection: ThreadedConnection): Promise<void> {
    return connection.run('rollback')
  }

  async releaseConnection(connection: ThreadedConnection): Promise<void> {
    connection.end()
    this.#inUse.delete(connection)
    if (this.#inUse.size === 0) this.#onUnused()
  }

  async destroy(): Promise<void> {
    this.#isClosed = true
    const unused = new Promise<void>((resolve) => (this.#onUnused = resolve))
    if (this.#inUse.size > 0) await unused
    await Promise.all([this.#reader.close(), this.#writer.close()])
  }

  /** Ends both threads as a fault in them would; for tests. */
  async kill(): Promise<void> {
    await Promise.all([this.#reader.kill(), this.#writer.kill()])
  }

  reader(): SqliteThread {
    if (this.#reader.hasEnded()) this.#reader = startSqliteThread({ path: this.#path, isReader: true })
    return this.#reader
  }

  /** Gives work the writer to itself, when those who asked before are done with it. */
  withWriter<Result>(work: (writer: SqliteThread) => Promise<Result>): Promise<Result> {
    return this.#turns(() => {
      if (this.#writer.hasEnded()) this.#writer = startSqliteThread({ path: this.#path, isReader: false })
      return work(this.#writer)
    })
  }
}

/** What a transaction has to itself until it ends: this very thread, since its successor knows nothing of it. */
type Held = { readonly writer: SqliteThread; release(): void }

class ThreadedConnection implements DatabaseConnection {
  readonly #driver: ThreadedDriver
  #held: Held | null = null

  constructor(driver: ThreadedDriver) {
    this.#driver = driver
  }

  async begin(): Promise<void> {
    this.#held = await new Promise<Held>((resolve) => {
      void this.#driver.withWriter((writer) => new Promise<void>((release) => resolve({ writer, release })))
    })
    await this.run('begin')
  }

  /** A statement of the transaction's own. */
  async run(sql: string): Promise<void> {
    if (this.#held === null) throw new Error('There is no transaction.')
    await this.#held.writer.run({ sql, parameters: [] })
  }

  end(): void {
    this.#held?.release()
    this.#held = null
  }

  async executeQuery<Row>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<Row>> {
    const statement = { sql, parameters }
    if (this.#held !== null) return toQueryResult(await this.#held.writer.run(statement))
    const isRead = SelectQueryNode.is(query) || (query.kind === 'RawNode' && selects.test(sql))
    if (isRead) return toQueryResult(await this.#driver.reader().run(statement))
    return toQueryResult(await this.#driver.withWriter((writer) => writer.run(statement)))
  }

  streamQuery(): never {
    throw new Error('Rows are not read one by one from another thread.')
  }
}

function toQueryResult<Row>({ rows, changes, insertId }: StatementResult): QueryResult<Row> {
  return {
    rows: rows as Row[],
    ...(changes !== null && { numAffectedRows: BigInt(changes) }),
    ...(insertId !== null && { insertId: BigInt(insertId) }),
  }
}

/** A thread with a connection of its own. What was not answered when it ends is rejected. */
type SqliteThread = {
  hasEnded(): boolean
  run(statement: Statement): Promise<StatementResult>
  /** Waits for what is under way. */
  close(): Promise<void>
  /** Ends the thread as a fault in it would; for tests. */
  kill(): Promise<unknown>
}

function startSqliteThread(settings: ThreadSettings): SqliteThread {
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
