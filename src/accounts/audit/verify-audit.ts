import type { OrganizationId } from '../../core/ids.ts'
import { chainStart } from '../../db/audit-chain.ts'
import type { Database } from '../../db/database.ts'
import type { AuditTable } from '../../db/tables/audit.ts'
import type { Anchor } from './anchors.ts'
import {
  ChainWalk,
  faultsMax,
  type AuditFault,
  type ChainPosition,
  type KnownPosition,
  type KnownRoot,
} from './chain-walk.ts'
import { readDeletedTo, readRowHashes } from '../transparency/row-hashes.ts'
import { findForeignRow } from '../transparency/tiles.ts'
import { deletionAction, readDeletion } from './deletions.ts'
import { readAuditRows } from './read-audit.ts'

export type AuditVerdict = {
  readonly organizationId: OrganizationId
  readonly rows: number
  /** Rows of which the hash alone is left, since they were deleted for their age. */
  readonly deleted: number
  readonly faults: readonly AuditFault[]
}

/** A line for the whole, and one for each fault. */
export function describeVerdict({ organizationId, rows, deleted, faults }: AuditVerdict): string[] {
  const state = faults.length === 0 ? 'as they were written' : `${faults.length} found wrong`
  const left = deleted === 0 ? '' : ` and the hashes of ${deleted} deleted ones`
  return [
    `${organizationId}: ${rows} rows${left}, ${state}`,
    ...faults.map(({ kind, message }) => `  ${kind}: ${message}`),
  ]
}

export type AuditPart = {
  readonly anchors: readonly Anchor[]
  /** Signed roots to compare with, where they are known; they can be computed only by a part that begins with the first row. */
  readonly roots?: readonly KnownRoot[] | undefined
  /** Where an earlier part ended; null begins with the first row. */
  readonly after: ChainPosition | null
  readonly rowsMax: number
}

export type PartVerdict = AuditVerdict & {
  /** Where this part ended: what was checked is as good as an anchor. Null where there is nothing yet. */
  readonly through: ChainPosition | null
  /** Whether that was the end of the chain. */
  readonly isComplete: boolean
}

/** Reading and hashing so many takes some milliseconds, in which a gateway with SQLite does nothing else. */
const rowsPerRead = 500
const hashesPerRead = 4_096

/** Follows an organization's chain from its first row to its end, to every anchor and to every root that was signed. */
export async function verifyAudit(
  db: Database,
  organizationId: OrganizationId,
  anchors: readonly Anchor[],
  roots: readonly KnownRoot[] = [],
): Promise<AuditVerdict> {
  const part = await verifyAuditPart(db, organizationId, { anchors, roots, after: null, rowsMax: Infinity })
  const { rows, deleted, faults } = part
  return { organizationId, rows, deleted, faults }
}

/** As `verifyAudit`, for no more rows than so many. The last part alone looks at the end of the chain. */
export async function verifyAuditPart(
  db: Database,
  organizationId: OrganizationId,
  { anchors, roots, after, rowsMax }: AuditPart,
): Promise<PartVerdict> {
  // Rows may be added meanwhile: all up to the first end must be there, and none behind the last one.
  const endBefore = await readEnd(db, organizationId)
  const deletedTo = await readDeletedTo(db, organizationId)
  const own = anchors.filter(({ organization }) => organization === organizationId)
  const known = [...own.map(toKnownPosition), { ...endBefore, from: 'at the end of the chain' }]
  // The row that the part before ended with is read once more: it must still be the one that was checked.
  const walk = new ChainWalk(after === null ? known : [...known, { ...after, from: 'checked before' }], after, roots)
  const range = { db, organizationId, after, rowsMax, deletedTo }
  if (after === null && deletedTo > 0) {
    const signed = roots === undefined ? null : Math.max(0, ...roots.map(({ size }) => size))
    walk.endDeleted(deletedTo, { told: await readTold(db, organizationId), signed })
  }
  const isComplete = await walkRows(walk, range)
  if (isComplete) {
    walk.end(await readEnd(db, organizationId))
    for (const { id } of await readPlaceless(db, organizationId, deletedTo)) {
      walk.report('inserted', null, `Row ${id} has no place in the chain.`)
    }
  }
  const { rows, deleted, faults, through } = walk
  return { organizationId, rows, deleted, faults, through, isComplete }
}

type Rows = {
  readonly db: Database
  readonly organizationId: OrganizationId
  readonly after: ChainPosition | null
  readonly rowsMax: number
  /** Of the rows up to this one the hashes alone are left. */
  readonly deletedTo: number
}

type Link = { readonly sequence: number | null; readonly hash: string | null }

/** Walks the rows of a part, and returns whether it came to the last row of the chain. */
async function walkRows(walk: ChainWalk, { after, rowsMax, ...range }: Rows): Promise<boolean> {
  let isForeign = false
  let position = (after?.sequence ?? 1) - 1
  const end = (after?.sequence ?? 0) + rowsMax
  while (position < end && position < range.deletedTo) {
    const links = await walkDeleted(walk, range, position)
    position = Math.min(range.deletedTo, position + hashesPerRead)
    if (!isForeign) isForeign = await reportForeignRow(walk, range, links)
  }
  const readNext = async () => {
    const limit = Math.min(rowsPerRead, end - position)
    return limit > 0 ? readAuditRows(range.db, { ...range, afterSequence: position, limit }) : []
  }
  const check = async (rows: readonly AuditTable[]) => {
    for (const row of rows) walk.add(row)
    if (!isForeign) isForeign = await reportForeignRow(walk, range, rows)
  }
  for (let rows = await readNext(); rows.length > 0;) {
    position = rows.at(-1)?.sequence ?? end
    // PostgreSQL reads the next rows while these are hashed.
    const [next] = await Promise.all([readNext(), check(rows)])
    rows = next
  }
  return position < end
}

/** Walks the hashes of the deleted rows that come next. */
async function walkDeleted(
  walk: ChainWalk,
  { db, organizationId, deletedTo }: Pick<Rows, 'db' | 'organizationId' | 'deletedTo'>,
  from: number,
): Promise<Link[]> {
  const to = Math.min(deletedTo, from + hashesPerRead)
  const links = (await readRowHashes(db, { organizationId, from, to })).map((hash, index) => {
    return { sequence: from + 1 + index, hash }
  })
  for (const { sequence, hash } of links) walk.addDeleted(sequence, hash)
  const missing = from + links.length + 1
  if (missing <= to) walk.report('missing', missing, `The hashes of the deleted rows ${missing} to ${to} are missing.`)
  return links
}

/** Whoever rewrites a chain leaves other rows than those that were taken into the tiles. Of these the first says enough. */
async function reportForeignRow(
  walk: ChainWalk,
  { db, organizationId }: Pick<Rows, 'db' | 'organizationId'>,
  rows: readonly Link[],
): Promise<boolean> {
  const sequence = await findForeignRow(db, organizationId, rows)
  if (sequence === null) return false
  walk.report('rewritten', sequence, `Row ${sequence} is not the one that was taken into the log.`)
  return true
}

function toKnownPosition({ sequence, hash, at }: Anchor): KnownPosition {
  return { sequence, hash, from: `anchored at ${new Date(at).toISOString()}` }
}

async function readEnd(db: Database, organizationId: OrganizationId): Promise<ChainPosition> {
  const end = await db
    .selectFrom('audit_chains')
    .select(['sequence', 'hash'])
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  return end ?? { sequence: 0, hash: chainStart }
}

/** The last row that the audit says was deleted. Whether those who say so are rows of the chain is seen on the walk. */
async function readTold(db: Database, organizationId: OrganizationId): Promise<number> {
  const rows = await db
    .selectFrom('audit')
    .select(['action', 'after'])
    .where('organization_id', '=', organizationId)
    .where('action', '=', deletionAction)
    .where('sequence', '>', 0)
    .execute()
  return Math.max(0, ...rows.map((row) => readDeletion(row)?.through ?? 0))
}

/** Rows before the first place, or at that of a deleted one; nothing in the program writes such. */
function readPlaceless(db: Database, organizationId: OrganizationId, deletedTo: number): Promise<{ id: string }[]> {
  return db
    .selectFrom('audit')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where((expression) => expression.or([expression('sequence', 'is', null), expression('sequence', '<=', deletedTo)]))
    .limit(faultsMax)
    .execute()
}
