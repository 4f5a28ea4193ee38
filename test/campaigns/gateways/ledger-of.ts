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

/** The tokens of a request were taken after its admission and before its first event. */
export function tokensTaken(rows: readonly Row[], amount: (row: Row) => number): Take[] {
  return rows.map((row) => {
    const startedMs = row.at - row.duration_ms
    const toMs = Math.min(row.at, startedMs + (row.first_event_ms ?? Infinity))
    return { fromMs: row.admitted_at ?? row.at, toMs, amount: amount(row) }
  })
}

/** A request itself is what was taken after it was sent and before its admission was noted. */
export function requestsTaken(rows: readonly Row[], sentAtMs: ReadonlyMap<string, number>): Take[] {
  return rows
    .filter(({ outcome }) => outcome === 'finished')
    .map(({ request_id: id, admitted_at: admittedAt, at }) => {
      const toMs = admittedAt ?? at
      return { fromMs: sentAtMs.get(id) ?? toMs, toMs, amount: 1 }
    })
}

/** The place of a request is taken before its admission is noted, and given back after its row is written. */
export function placesOf(rows: readonly Row[]): Take[] {
  return rows.map((row) => ({ fromMs: row.admitted_at ?? row.at, toMs: row.at, amount: 1 }))
}
