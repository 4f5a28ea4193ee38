/** The kinds of SQLite's faults that something follows from; every other one, as that of a full disk, is told as it is. */
const codes = { busy: 5, corrupt: 11, notDatabase: 26 } as const

export type SqliteFault = keyof typeof codes

/** What kind of fault of SQLite an error is; null for another kind, and for what is none. */
export function sqliteFaultOf(error: unknown): SqliteFault | null {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : null
  return (Object.keys(codes) as SqliteFault[]).find((kind) => codes[kind] === code) ?? null
}
