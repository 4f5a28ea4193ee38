import { codeOf } from '../lib/message-of.ts'

/** SQLITE_CONSTRAINT, SQLITE_MISMATCH and SQLITE_RANGE, whatever their extension; and what the driver itself refuses. */
export function isRefusedBySqlite(error: unknown): boolean {
  if (error instanceof TypeError) return true
  const code = sqliteCode(error)
  return code !== null && [19, 20, 25].includes(code)
}

/** SQLITE_FULL and what SQLITE_IOERR says of writing: nothing more can be written where a file is made. */
const writeCodes = [13, 778, 1_034, 1_290, 1_546]
const systemWriteCodes = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS']

/** Whether a disk took nothing more, as SQLite or the system says it. */
export function isWriteFault(error: unknown): boolean {
  return writeCodes.includes(extendedSqliteCode(error) ?? 0) || systemWriteCodes.includes(codeOf(error) ?? '')
}

/** SQLITE_BUSY: another process holds the file. */
export function isBusy(error: unknown): boolean {
  return sqliteCode(error) === 5
}

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
export function isDamage(error: unknown): boolean {
  return [11, 26].includes(sqliteCode(error) ?? 0)
}

/** The primary result code of an error of SQLite's, null for any other. */
export function sqliteCode(error: unknown): number | null {
  const code = extendedSqliteCode(error)
  return code === null ? null : code & 0xff
}

/** The result code with its extension, as SQLite gave it; null for an error that is not SQLite's. */
export function extendedSqliteCode(error: unknown): number | null {
  const isOfSqlite = error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
  return isOfSqlite ? Number(error.errcode) : null
}
