import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite'
import type { SqliteDatabase } from 'kysely'

/** Before this version SQLite could lose committed pages when the log was reset. */
const sqliteVersionMin = '3.51.3'

/** A connection as every part of the program has it: readers never wait for the writer; a commit is on the disk before it counts. */
export function connectFile(path: string): DatabaseSync {
  return connect(path, false, 'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;')
}

/** For what only reads. The file is there already, with its log. */
export function connectFileToRead(path: string): DatabaseSync {
  return connect(path, true, 'PRAGMA query_only = ON;')
}

function connect(path: string, readOnly: boolean, pragmas: string): DatabaseSync {
  const sqlite = new DatabaseSync(path, { timeout: 5_000, readOnly })
  try {
    requireVersion(sqlite)
    sqlite.exec(pragmas)
    // SQLite's own `lower` knows no letters but those of ASCII.
    sqlite.function('fold_case', { deterministic: true }, foldCase)
    return sqlite
  } catch (error) {
    sqlite.close()
    throw error
  }
}

function foldCase(value: SQLOutputValue): SQLOutputValue {
  return typeof value === 'string' ? value.toLowerCase() : value
}

export type KeptStatement = ReturnType<SqliteDatabase['prepare']>

/** More than the program has of statements that are always the same. */
const preparedMax = 200
/** Other statements, pragmas above all, may have their effect when they are prepared and not when they are run. */
const mayBeKept = /^(?:select|insert|update|delete|with|begin|commit|rollback)\b/i

/** A connection that remembers the statements it was given, in the shape that the query builder asks for. */
export function keepStatements(sqlite: DatabaseSync): SqliteDatabase {
  /** The one that was used last is at the end. */
  const prepared = new Map<string, KeptStatement>()
  return {
    close: () => sqlite.close(),
    prepare(sql) {
      const statement = prepared.get(sql) ?? prepareStatement(sqlite, sql)
      if (!mayBeKept.test(sql)) return statement
      prepared.delete(sql)
      prepared.set(sql, statement)
      const [oldest] = prepared.keys()
      if (prepared.size > preparedMax && oldest !== undefined) prepared.delete(oldest)
      return statement
    },
  }
}

function prepareStatement(sqlite: DatabaseSync, sql: string): KeptStatement {
  // A transaction that begins as a reader cannot wait its turn to write when another process has written meanwhile.
  const statement = sqlite.prepare(sql === 'begin' ? 'begin immediate' : sql)
  const asInput = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[]
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...asInput(parameters)),
    run: (parameters) => {
      // A full disk has ended the transaction already: to say that none is left would hide why.
      if (sql === 'rollback' && !sqlite.isTransaction) return { changes: 0, lastInsertRowid: 0 }
      return statement.run(...asInput(parameters))
    },
    // Reading row by row takes a statement of its own: run again meanwhile, it would begin anew.
    iterate: (parameters) => sqlite.prepare(sql).iterate(...asInput(parameters)),
  }
}

function requireVersion(sqlite: DatabaseSync): void {
  const version = String(sqlite.prepare('SELECT sqlite_version() AS version').get()?.['version'])
  if (!isAtLeast(version, sqliteVersionMin)) {
    throw new Error(`SQLite ${version} is too old: ${sqliteVersionMin} or newer is needed.`)
  }
}

/** A comparison by locale would say the same, and takes 25 ms when it is first made. */
function isAtLeast(version: string, least: string): boolean {
  const [parts, leastParts] = [version, least].map((text) => text.split('.').map(Number))
  for (const [index, wanted] of (leastParts ?? []).entries()) {
    const part = parts?.[index] ?? 0
    if (part !== wanted) return part > wanted
  }
  return true
}
