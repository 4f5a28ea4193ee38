// The Merkle tree of an organization's audit in tiles of 256 hashes, as C2SP's tlog-tiles cuts it.

import type { Transaction } from 'kysely'
import type { OrganizationId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import type { Tables } from '../../db/tables.ts'
import { hashNode, type SubtreeReader, type TreeHash } from '../../lib/merkle-tree.ts'
import { auditLeaf } from '../audit/chain-walk.ts'

const hashBytes = 32
/** A tile covers so many levels of the tree. */
const levelsPerTile = 8
export const hashesPerTile = 2 ** levelsPerTile

/** Rows taken in by one transaction: a few hundredths of a second in which nobody else writes. */
const rowsAtOnce = 16 * hashesPerTile

/** A row that the chain should have is not there, so the tree cannot go on. */
export class MissingAuditRow extends Error {
  override readonly name = 'MissingAuditRow'
  readonly sequence: number

  constructor(sequence: number) {
    super(`Row ${sequence} is missing.`)
    this.sequence = sequence
  }
}

/** Takes the rows that were added since into the tree. Returns its size. Throws `MissingAuditRow`. */
export async function growTree(db: Database, organizationId: OrganizationId): Promise<number> {
  for (;;) {
    const { size, added } = await db.transaction().execute((transaction) => takeRows(transaction, organizationId))
    if (added < rowsAtOnce) return size
  }
}

async function takeRows(transaction: Transaction<Tables>, organizationId: OrganizationId) {
  const { size } = await lockLog(transaction, organizationId)
  const rows = await transaction
    .selectFrom('audit')
    .select(['sequence', 'hash'])
    .where('organization_id', '=', organizationId)
    .where('sequence', '>', size)
    .orderBy('sequence')
    .limit(rowsAtOnce)
    .execute()
  const leaves = rows.map(({ sequence, hash }, index) => {
    const expected = size + index + 1
    if (sequence !== expected || hash === null) throw new MissingAuditRow(expected)
    return auditLeaf(hash)
  })
  if (leaves.length === 0) return { size, added: 0 }
  await append(transaction, organizationId, { level: 0, from: size, hashes: leaves })
  await transaction
    .updateTable('audit_logs')
    .set({ size: size + leaves.length })
    .where('organization_id', '=', organizationId)
    .execute()
  return { size: size + leaves.length, added: leaves.length }
}

/** Locks the log until the transaction is over, so that one grows it or signs for it at a time. */
export function lockLog(
  transaction: Transaction<Tables>,
  organizationId: OrganizationId,
): Promise<{ readonly size: number; readonly origin: string | null }> {
  return transaction
    .insertInto('audit_logs')
    .values({ organization_id: organizationId, origin: null, size: 0 })
    .onConflict((conflict) =>
      conflict.column('organization_id').doUpdateSet(({ ref }) => ({ size: ref('audit_logs.size') })),
    )
    .returning(['size', 'origin'])
    .executeTakeFirstOrThrow()
}

type Added = { readonly level: number; readonly from: number; readonly hashes: readonly TreeHash[] }

/** Writes hashes behind those of their level; each tile that becomes full adds one to the level above. */
async function append(transaction: Transaction<Tables>, organizationId: OrganizationId, added: Added): Promise<void> {
  const { level, from } = added
  const above: TreeHash[] = []
  const firstNumber = Math.floor(from / hashesPerTile)
  for (let number = firstNumber, rest = added.hashes; rest.length > 0; number += 1) {
    const offset = number === firstNumber ? from % hashesPerTile : 0
    const before = offset === 0 ? [] : await readTile(transaction, organizationId, { level, number })
    const hashes = [...before.slice(0, offset), ...rest.slice(0, hashesPerTile - offset)]
    rest = rest.slice(hashesPerTile - offset)
    await writeTile(transaction, organizationId, { level, number, hashes })
    if (hashes.length === hashesPerTile) above.push(combine(hashes))
  }
  if (above.length > 0)
    await append(transaction, organizationId, { level: level + 1, from: firstNumber, hashes: above })
}

type TilePosition = { readonly level: number; readonly number: number }

async function writeTile(
  transaction: Transaction<Tables>,
  organizationId: OrganizationId,
  { level, number, hashes }: TilePosition & { readonly hashes: readonly TreeHash[] },
): Promise<void> {
  const text = Buffer.concat(hashes).toString('base64')
  await transaction
    .insertInto('audit_tiles')
    .values({ organization_id: organizationId, level, number, hashes: text })
    .onConflict((conflict) => conflict.columns(['organization_id', 'level', 'number']).doUpdateSet({ hashes: text }))
    .execute()
}

/** Reads the hashes with which a tile is filled so far; none where the tile has not begun. */
export async function readTile(
  db: Database,
  organizationId: OrganizationId,
  { level, number }: TilePosition,
): Promise<TreeHash[]> {
  const tile = await db
    .selectFrom('audit_tiles')
    .select('hashes')
    .where('organization_id', '=', organizationId)
    .where('level', '=', level)
    .where('number', '=', number)
    .executeTakeFirst()
  const bytes = Buffer.from(tile?.hashes ?? '', 'base64')
  return Array.from({ length: bytes.length / hashBytes }, (_, index) =>
    bytes.subarray(index * hashBytes, (index + 1) * hashBytes),
  )
}

/** The number of the first of some rows, in the order of the chain, that is not the one that the tiles hold; null where each is, as far as there are tiles. */
export async function findForeignRow(
  db: Database,
  organizationId: OrganizationId,
  rows: readonly { readonly sequence: number | null; readonly hash: string | null }[],
): Promise<number | null> {
  const byTile = Map.groupBy(rows, ({ sequence }) => Math.floor(((sequence ?? 1) - 1) / hashesPerTile))
  const tiles = await Promise.all(
    [...byTile].map(async ([number, own]) => ({
      own,
      hashes: await readTile(db, organizationId, { level: 0, number }),
    })),
  )
  for (const { own, hashes } of tiles) {
    const foreign = own.find(({ sequence, hash }) => {
      const taken = hashes[((sequence ?? 1) - 1) % hashesPerTile]
      return taken !== undefined && !taken.equals(auditLeaf(hash ?? ''))
    })
    if (foreign !== undefined) return foreign.sequence
  }
  return null
}

/** Reads complete subtrees from the tiles; each tile is read once. Throws where the tree is not that large. */
export function subtreesOf(db: Database, organizationId: OrganizationId): SubtreeReader {
  const tiles = new Map<string, Promise<TreeHash[]>>()
  return async (level, index) => {
    const tileLevel = Math.floor(level / levelsPerTile)
    const width = 2 ** (level % levelsPerTile)
    const first = index * width
    const number = Math.floor(first / hashesPerTile)
    const place = `${tileLevel}/${number}`
    const tile = tiles.get(place) ?? readTile(db, organizationId, { level: tileLevel, number })
    tiles.set(place, tile)
    const hashes = (await tile).slice(first % hashesPerTile, (first % hashesPerTile) + width)
    if (hashes.length < width) throw new Error(`Tile ${place} of ${organizationId} is not complete.`)
    return combine(hashes)
  }
}

/** The root over as many hashes as a power of two, at least one. */
function combine(hashes: readonly TreeHash[]): TreeHash {
  const [first, second] = hashes
  if (first === undefined || second === undefined) return first ?? Buffer.alloc(0)
  const half = hashes.length / 2
  return hashNode(combine(hashes.slice(0, half)), combine(hashes.slice(half)))
}
