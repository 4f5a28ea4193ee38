import type { Selectable } from 'kysely'
import type { Database } from '../../../src/db/database.ts'
import type { LedgerTable } from '../../../src/db/tables/billing.ts'
import type { Key } from './start-gateways.ts'
import type { Take } from './windows.ts'

export type Row = Selectable<LedgerTable>

/** Every row of a key’s requests; those that were refused have none. */
export function readRows(db: Database, { id }: Key): Promise<Row[]> {
  return db.selectFrom('ledger').selectAll().where('api_key_id', '=', id).orderBy('sequence').execute()
}

export function inputOf({ input_uncached, input_cache_read, input_cache_write }: Row): number {
  return input_uncached + input_cache_read + input_cache_write
}

function admittedAt({ admitted_at: admittedAtMs, at }: Row): number {
  return admittedAtMs ?? at
}

/** The tokens of a request were taken after its admission and before its first event. */
export function tokensTaken(rows: readonly Row[], amount: (row: Row) => number): Take[] {
  return rows.map((row) => {
    const startedMs = row.at - row.duration_ms
    const toMs = Math.min(row.at, startedMs + (row.first_event_ms ?? Infinity))
    return { fromMs: admittedAt(row), toMs, amount: amount(row) }
  })
}

/** A request itself is what was taken after it was sent and before its admission was noted. */
export function requestsTaken(rows: readonly Row[], sentAtMs: ReadonlyMap<string, number>): Take[] {
  return rows
    .filter(({ outcome }) => outcome === 'finished')
    .map((row) => {
      const toMs = admittedAt(row)
      return { fromMs: sentAtMs.get(row.request_id) ?? toMs, toMs, amount: 1 }
    })
}

/** The place of a request is taken before its admission is noted, and given back after its row is written. */
export function placesOf(rows: readonly Row[]): Take[] {
  return rows.map((row) => ({ fromMs: admittedAt(row), toMs: row.at, amount: 1 }))
}
