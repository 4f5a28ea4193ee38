// Of rows that were deleted the hashes stay, in tiles of 256: what was signed for them holds as before.

import type { Transaction } from 'kysely'
import type { OrganizationId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import type { Tables } from '../../db/tables.ts'

const hashBytes = 32
const hashesPerTile = 256

/** How many of the first rows are deleted. */
export async function readDeletedTo(db: Database, organizationId: OrganizationId): Promise<number> {
  const log = await db
    .selectFrom('audit_logs')
    .select('deleted_to')
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  return log?.deleted_to ?? 0
}

export type RowRange = {
  readonly organizationId: OrganizationId
  /** Begins behind this one. */
  readonly from: number
  readonly to: number
}

/** Reads the hashes of deleted rows, in hex and in their order; fewer where some are missing. */
export async function readRowHashes(db: Database, { organizationId, from, to }: RowRange): Promise<string[]> {
  if (to <= from) return []
  const first = Math.floor(from / hashesPerTile)
  const tiles = await db
    .selectFrom('audit_row_hashes')
    .select(['number', 'hashes'])
    .where('organization_id', '=', organizationId)
    .where('number', '>=', first)
    .where('number', '<=', Math.floor((to - 1) / hashesPerTile))
    .orderBy('number')
    .execute()
  const hashes: string[] = []
  for (const [index, tile] of tiles.entries()) {
    if (tile.number !== first + index) break
    const own = split(tile.hashes)
    hashes.push(...own)
    if (own.length < hashesPerTile) break
  }
  return hashes.slice(from % hashesPerTile, (from % hashesPerTile) + to - from)
}

/** Keeps the hashes of the rows behind the first `from`, whose hashes are kept already. */
export async function keepRowHashes(
  transaction: Transaction<Tables>,
  { organizationId, from, hashes }: Omit<RowRange, 'to'> & { readonly hashes: readonly string[] },
): Promise<void> {
  const begun = from - (from % hashesPerTile)
  const all = [...(await readRowHashes(transaction, { organizationId, from: begun, to: from })), ...hashes]
  for (let start = 0; start < all.length; start += hashesPerTile) {
    const text = Buffer.from(all.slice(start, start + hashesPerTile).join(''), 'hex').toString('base64')
    await transaction
      .insertInto('audit_row_hashes')
      .values({ organization_id: organizationId, number: (begun + start) / hashesPerTile, hashes: text })
      .onConflict((conflict) => conflict.columns(['organization_id', 'number']).doUpdateSet({ hashes: text }))
      .execute()
  }
}

function split(hashes: string): string[] {
  const bytes = Buffer.from(hashes, 'base64')
  return Array.from({ length: Math.floor(bytes.length / hashBytes) }, (_, index) =>
    bytes.toString('hex', index * hashBytes, (index + 1) * hashBytes),
  )
}
