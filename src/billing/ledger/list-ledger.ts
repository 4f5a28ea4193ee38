import { narrowProjects } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { Database } from '../../db/database.ts'
import type { LedgerFilter } from './ledger-filter.ts'
import {
  inOrder,
  piecesOf,
  planScan,
  selectSpans,
  type LedgerCursor,
  type LedgerScan,
  type LedgerSpan,
  type ScanBounds,
} from './ledger-scan.ts'
import type { LedgerRow } from './read-ledger.ts'

export type LedgerSearch = LedgerFilter & { readonly after: LedgerCursor | null; readonly limit: number }

export type LedgerPage = {
  /** Fewer than asked for, or none, where looking for more would have taken too long. */
  readonly rows: readonly LedgerRow[]
  /** Behind what the next page begins; null where nothing is left. */
  readonly next: LedgerCursor | null
  /** Up to when it was looked where the page is short for that reason. */
  readonly searchedToMs: number | null
}

/** A piece is read within a few milliseconds, and a page within half a second. */
const listBounds: ScanBounds = { rowsPerPiece: 1_000, piecesMax: 200 }

/**
 * Charges and reversals of an organization, newest first, as far as the principal may see them; what is added
 * meanwhile does not move what comes after.
 *
 * What no index finds is looked for in pieces, and not without end: a ledger may have so many rows that do not match
 * that everybody else would wait for one page.
 */
export async function listLedger(
  db: Database,
  principal: Principal,
  { after, limit, ...filter }: LedgerSearch,
  bounds: ScanBounds = listBounds,
): Promise<LedgerPage> {
  const projectIds = narrowProjects(principal, 'requests:read', filter)
  if (projectIds?.length === 0) return { rows: [], next: null, searchedToMs: null }
  const scan = planScan(db, { ...filter, ...(projectIds !== undefined && { projectIds }) })
  // One more tells whether another page follows.
  const wanted = limit + 1
  if (scan.rest.length === 0) return fullPage(await readRows(db, scan, { after, upTo: null }, wanted), limit)
  return searchPieces(db, scan, { after, limit, ...bounds })
}

async function searchPieces(
  db: Database,
  scan: LedgerScan,
  { limit, ...bounds }: Pick<LedgerSearch, 'after' | 'limit'> & ScanBounds,
): Promise<LedgerPage> {
  const rows: LedgerRow[] = []
  let next: LedgerCursor | null = null
  for await (const piece of piecesOf(db, scan, bounds)) {
    rows.push(...(await readRows(db, scan, piece, limit + 1 - rows.length)))
    if (rows.length > limit || piece.upTo === null) return fullPage(rows, limit)
    next = piece.upTo
  }
  return { rows, next, searchedToMs: rows.length < limit ? (next?.at ?? null) : null }
}

function fullPage(rows: readonly LedgerRow[], limit: number): LedgerPage {
  const last = rows.length > limit ? rows[limit - 1] : undefined
  const next = last === undefined ? null : { at: last.at, sequence: last.sequence }
  return { rows: rows.slice(0, limit), next, searchedToMs: null }
}

async function readRows(db: Database, scan: LedgerScan, span: LedgerSpan, limit: number): Promise<LedgerRow[]> {
  const parts = selectSpans(db, scan, span).map((part) => part.selectAll())
  return (await inOrder(db, parts, limit)?.execute()) ?? []
}
