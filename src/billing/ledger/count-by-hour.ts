import { sql } from 'kysely'
import { narrowProjects } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { Database } from '../../db/database.ts'
import { bucketOfLedger, hourMs } from '../usage/usage-columns.ts'
import type { LedgerFilter } from './ledger-filter.ts'
import {
  piecesOf,
  planScan,
  selectSpans,
  type LedgerCursor,
  type LedgerScan,
  type LedgerSpan,
  type ScanBounds,
} from './ledger-scan.ts'
import type { LedgerRow } from './read-ledger.ts'

export type HourCount = Pick<LedgerRow, 'outcome'> & { readonly hourMs: number; readonly requests: number }

export type HourCounts = {
  readonly hours: readonly HourCount[]
  /** From when on all that match are counted, where there were too many rows to look through; null where it is all. */
  readonly countedFromMs: number | null
}

/** More than a page of a list is worth: what is counted cannot be gone on with. */
const countBounds: ScanBounds = { rowsPerPiece: 1_000, piecesMax: 1_000 }

/**
 * How many requests match in each hour in which any do, by how they ended, as far as the principal may see them.
 *
 * It is counted in pieces from the newest on, since every row of the time is looked at.
 */
export async function countByHour(
  db: Database,
  principal: Principal,
  filter: LedgerFilter,
  bounds: ScanBounds = countBounds,
): Promise<HourCounts> {
  const projectIds = narrowProjects(principal, 'requests:read', filter)
  if (projectIds?.length === 0) return { hours: [], countedFromMs: null }
  const scan = planScan(db, { ...filter, ...(projectIds !== undefined && { projectIds }) })
  const sums = new Map<string, HourCount>()
  let end: LedgerCursor | null = null
  for await (const piece of piecesOf(db, scan, { after: null, ...bounds })) {
    for (const count of await countSpan(db, scan, piece)) add(sums, count)
    end = piece.upTo
  }
  // Others of the same moment as the last row may not have been looked at.
  return { hours: [...sums.values()], countedFromMs: end === null ? null : end.at + 1 }
}

async function countSpan(db: Database, scan: LedgerScan, span: LedgerSpan): Promise<HourCount[]> {
  const hour = bucketOfLedger(hourMs)
  const counted: HourCount[] = []
  for (const part of selectSpans(db, scan, span)) {
    const rows = await part
      .where(sql<boolean>`kind = 'charge'`)
      .select(['outcome', hour.as('hour')])
      .select((eb) => eb.fn.countAll().as('requests'))
      .groupBy(['outcome', hour])
      .execute()
    for (const row of rows) {
      counted.push({ outcome: row.outcome, hourMs: Number(row.hour), requests: Number(row.requests) })
    }
  }
  return counted
}

function add(sums: Map<string, HourCount>, count: HourCount): void {
  const name = `${count.hourMs} ${count.outcome}`
  const before = sums.get(name)?.requests ?? 0
  sums.set(name, { ...count, requests: before + count.requests })
}
