/** SQLITE_CONSTRAINT, SQLITE_MISMATCH and SQLITE_RANGE, whatever their extension; and what the driver itself refuses. */
export function isRefusedBySqlite(error: unknown): boolean {
  if (error instanceof TypeError) return true
  const code = sqliteCode(error)
  return code !== null && [19, 20, 25].includes(code)
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
