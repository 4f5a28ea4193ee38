import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { OrganizationId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import { nextTurn } from '../../lib/next-turn.ts'
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
  const marks: Buffer[] = []
  let [first, last]: (number | null)[] = [null, null]
  for await (const row of readInTime(db, organizationId, { fromMs, untilMs })) {
    const hash = hashOfRow(row)
    whole.update(hash)
    marks.push(hash.subarray(0, markBytes))
    first = Math.min(first ?? row.sequence, row.sequence)
    last = Math.max(last ?? row.sequence, row.sequence)
  }
  const sums = { rows: marks.length, firstSequence: first ?? null, lastSequence: last ?? null }
  return { ...sums, sha256: whole.digest('hex'), marks: Buffer.concat(marks) }
}

/**
 * The columns by their names, so that neither database's order counts. Whom a request was for is not among them: reports
 * were signed before that was known, and it says nothing of how the request went.
 */
export function hashOfRow({ end_user: _, tags: __, ...row }: LedgerRow): Buffer {
  const columns = Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(columns)).digest()
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
