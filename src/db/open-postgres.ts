import { Kysely, PostgresDialect, sql } from 'kysely'
import { Pool, types, type PoolConfig } from 'pg'
import { messageOf } from '../lib/message-of.ts'
import type { Database } from './database.ts'
import { listMigrations, migrate, type MigrationState } from './migrate.ts'
import type { Tables } from './tables.ts'

const connectTimeoutMs = 5_000

type ConnectionLimits = {
  readonly connectionsMax: number
  /** A statement that takes longer is given up. */
  readonly statementTimeoutMs: number
}

/** The largest report is made in well under this. */
const usualLimits: ConnectionLimits = { connectionsMax: 10, statementTimeoutMs: 30_000 }

/**
 * Connects to PostgreSQL and brings its schema up to date.
 *
 * The address says everything: host, user, password, TLS (`sslmode`,
 * `sslrootcert`) and, where it is not the user's own, the schema
 * (`options=-c search_path=…`).
 */
export async function openPostgres(url: string): Promise<Database> {
  await migratePostgres(url)
  return connectPostgres(url)
}

/** Connects and changes nothing. */
export function connectPostgres(url: string, limits: ConnectionLimits = usualLimits): Database {
  return connect({ connectionString: url, ...limitsOf(limits) })
}

function limitsOf({ connectionsMax, statementTimeoutMs }: ConnectionLimits): PoolConfig {
  return {
    max: connectionsMax,
    statement_timeout: statementTimeoutMs,
    // The server gives up a little earlier than the client, so that nothing goes on there for nobody.
    query_timeout: statementTimeoutMs + 2_000,
    idle_in_transaction_session_timeout: statementTimeoutMs,
  }
}

/** For a copy of all rows, also of amounts beyond the whole numbers of JavaScript: those of 64 bits come as `bigint`. */
export function connectPostgresToCopy(url: string): Database {
  const types = { getTypeParser: typeParserWith(BigInt) }
  return connect({ connectionString: url, ...limitsOf(usualLimits), types })
}

/** Returns the names of the migrations that were applied. */
export function migratePostgres(url: string): Promise<string[]> {
  return onMigrationConnection(url, migrate)
}

export function listPostgresMigrations(url: string): Promise<MigrationState[]> {
  return onMigrationConnection(url, listMigrations)
}

/** Apart from the other connections: a large table takes its time, and so does waiting for another process that migrates. */
async function onMigrationConnection<Result>(
  url: string,
  work: (db: Database, schema: string) => Promise<Result>,
): Promise<Result> {
  const db = connect({ connectionString: url, max: 2 })
  try {
    return await work(db, await currentSchema(db))
  } finally {
    await db.destroy()
  }
}

/** Tables of the same names in another schema are none of ours. */
async function currentSchema(db: Database): Promise<string> {
  const asked = sql<{ schema: string | null }>`select current_schema() as schema`.execute(db)
  const { rows } = await asked.catch((error: unknown) => {
    throw new Error(`PostgreSQL, as DATABASE_URL names it, cannot be used: ${reasonOf(error)}`, { cause: error })
  })
  const schema = rows[0]?.schema ?? null
  if (schema === null)
    throw new Error('The PostgreSQL user has no schema to work in: its search_path names none that exists.')
  return schema
}

/** A name that stands for several addresses fails with one error for each, and no words of its own. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ')
  return messageOf(error)
}

function connect(config: PoolConfig): Database {
  const pool = new Pool({
    application_name: 'odyssey',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    types: { getTypeParser: typeParserWith(toNumber) },
    ...config,
  })
  // A connection that breaks is replaced by the pool. Whoever uses it is told by the query that fails; besides, the
  // connection itself reports it, and without a listener that would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
}

const int8 = 20

/** What reads values as the driver does, but for whole numbers of 64 bits, of which that would make text. */
function typeParserWith(readInt8: (text: string) => unknown) {
  return (id: number, format?: 'text' | 'binary'): unknown =>
    id === int8 && format !== 'binary' ? readInt8 : types.getTypeParser(id, format as 'text')
}

/** Counts, times and money are numbers everywhere in the program. */
function toNumber(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new Error(`PostgreSQL returned ${text}, which is no safe integer.`)
  return number
}
