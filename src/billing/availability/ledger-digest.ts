import { createHash, hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { OrganizationId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import type { LedgerRow } from '../ledger/read-ledger.ts'
import type { Interval } from './intervals.ts'

/** What was in the ledger of an organization in a time, without telling it. */
export type LedgerDigest = {
  readonly rows: number
  readonly firstSequence: number | null
  readonly lastSequence: number | null
  /** The hash of all rows in order. */
  readonly sha256: string
  /** The beginning of each row's own hash, by which one that has changed is found. */
  readonly marks: Buffer
}

/** By chance two rows have the same mark once in four thousand million; that any has changed the whole hash tells. */
export const markBytes = 4

export async function digestLedger(
  db: Database,
  organizationId: OrganizationId,
  { fromMs, untilMs }: Interval,
): Promise<LedgerDigest> {
  const whole = createHash('sha256')
  const hashOfRow = createRowHash()
  // As numbers, since a buffer for each of millions of rows takes a hundred bytes.
  const marks: number[] = []
  let [first, last]: (number | null)[] = [null, null]
  for await (const row of readInTime(db, organizationId, { fromMs, untilMs })) {
    const own = hashOfRow(row)
    whole.update(own)
    marks.push(own.readUIntBE(0, markBytes))
    first = Math.min(first ?? row.sequence, row.sequence)
    last = Math.max(last ?? row.sequence, row.sequence)
  }
  const sums = { rows: marks.length, firstSequence: first ?? null, lastSequence: last ?? null }
  return { ...sums, sha256: whole.digest('hex'), marks: toBytes(marks) }
}

function toBytes(marks: readonly number[]): Buffer {
  const bytes = Buffer.alloc(marks.length * markBytes)
  for (const [index, mark] of marks.entries()) bytes.writeUIntBE(mark, index * markBytes, markBytes)
  return bytes
}

/** Reports were signed before it was known whom a request was for, which says nothing of how the request went. */
const leftOut: ReadonlySet<string> = new Set<keyof LedgerRow>(['end_user', 'tags'])

/** Hashes rows of one table: their columns by name, so that neither database's order counts. */
export function createRowHash(): (row: LedgerRow) => Buffer {
  let names: readonly (keyof LedgerRow)[] | null = null
  return (row) => {
    names ??= (Object.keys(row) as (keyof LedgerRow)[]).filter((name) => !leftOut.has(name)).toSorted()
    return hash('sha256', JSON.stringify(names.map((name) => [name, row[name]])), 'buffer')
  }
}

/** Hashing so many takes some milliseconds, in which a gateway with SQLite does nothing else. */
const rowsAtOnce = 250

/** The rows of an organization as they stand in time, a page in memory; those of others are not looked at. */
export async function* readInTime(
  db: Database,
  organizationId: OrganizationId,
  { fromMs, untilMs }: Interval,
): AsyncGenerator<LedgerRow> {
  let after = { at: fromMs - 1, sequence: 0 }
  for (;;) {
    const page = await db
      .selectFrom('ledger')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('at', '>=', after.at)
      .where('at', '<', untilMs)
      .where(sql<boolean>`(at, sequence) > (${after.at}, ${after.sequence})`)
      .orderBy('at')
      .orderBy('sequence')
      .limit(rowsAtOnce)
      .execute()
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < rowsAtOnce) return
    after = last
    await nextTurn()
  }
}
