import { sql } from 'kysely'
import type { OrganizationId } from '../../core/ids.ts'
import { narrowProjects } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { Database } from '../../db/database.ts'
import { inOrder, piecesOf, planScan, selectSpans } from './ledger-scan.ts'

/** Enough for percentiles, and read within a few milliseconds. */
export const waitsMax = 1_000

/** Where few of the rows that are looked at are the model's, it is not looked for ever. */
const bounds = { rowsPerPiece: waitsMax, piecesMax: 10 }

type Wanted = { readonly organizationId: OrganizationId; readonly model: string; readonly fromMs: number }

/**
 * How many milliseconds the newest requests of a model waited for their first token, at most a thousand of them, as far as
 * the principal may see an organization's usage.
 */
export async function readNewestWaits(db: Database, principal: Principal, wanted: Wanted): Promise<readonly number[]> {
  const projectIds = narrowProjects(principal, 'usage:read', wanted)
  if (projectIds?.length === 0) return []
  const scan = planScan(db, { ...wanted, ...(projectIds !== undefined && { projectIds }) })
  const waits: number[] = []
  for await (const piece of piecesOf(db, scan, { after: null, ...bounds })) {
    const parts = selectSpans(db, scan, piece).map((part) =>
      part
        .select(['at', 'sequence', 'first_token_ms'])
        .where(sql<boolean>`kind = 'charge' and first_token_ms is not null`),
    )
    const rows = (await inOrder(db, parts, waitsMax - waits.length)?.execute()) ?? []
    waits.push(...rows.flatMap(({ first_token_ms: wait }) => (wait === null ? [] : [wait])))
    if (waits.length >= waitsMax) break
  }
  return waits
}

export type Percentiles = { readonly p50: number; readonly p95: number }

/** What half of the waits, and 95 % of them, stay below; null where there are none. */
export function percentilesOf(waits: readonly number[]): Percentiles | null {
  const sorted = waits.toSorted((one, other) => one - other)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
  return sorted.length === 0 ? null : { p50: at(0.5), p95: at(0.95) }
}
