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

/** What a request used was taken after its admission and before its first event. */
export function takesOf(rows: readonly Row[], amount: (row: Row) => number): Take[] {
  return rows.map((row) => {
    const fromMs = row.admitted_at ?? row.at
    return { fromMs, toMs: Math.min(row.at, fromMs + Math.ceil(row.first_event_ms ?? Infinity)), amount: amount(row) }
  })
}

/** The place of a request is taken before its admission is noted, and given back after its row is written. */
export function placesOf(rows: readonly Row[]): Take[] {
  return rows.map((row) => ({ fromMs: row.admitted_at ?? row.at, toMs: row.at, amount: 1 }))
}
