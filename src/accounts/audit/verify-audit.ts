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
import { findForeignRow } from '../transparency/tiles.ts'
import { readAuditRows } from './read-audit.ts'

export type AuditVerdict = {
  readonly organizationId: OrganizationId
  readonly rows: number
  readonly faults: readonly AuditFault[]
}

export type AuditPart = {
  readonly anchors: readonly Anchor[]
  /** Signed roots to compare with; they can be computed only by a part that begins with the first row. */
  readonly roots?: readonly KnownRoot[]
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

/** Follows an organization's chain from its first row to its end, to every anchor and to every root that was signed. */
export async function verifyAudit(
  db: Database,
  organizationId: OrganizationId,
  anchors: readonly Anchor[],
  roots: readonly KnownRoot[] = [],
): Promise<AuditVerdict> {
  const { rows, faults } = await verifyAuditPart(db, organizationId, { anchors, roots, after: null, rowsMax: Infinity })
  return { organizationId, rows, faults }
}

/** As `verifyAudit`, for no more rows than so many. The last part alone looks at the end of the chain. */
export async function verifyAuditPart(
  db: Database,
  organizationId: OrganizationId,
  { anchors, roots = [], after, rowsMax }: AuditPart,
): Promise<PartVerdict> {
  // Rows may be added meanwhile: all up to the first end must be there, and none behind the last one.
  const endBefore = await readEnd(db, organizationId)
  const own = anchors.filter(({ organization }) => organization === organizationId)
  const known = [...own.map(toKnownPosition), { ...endBefore, from: 'at the end of the chain' }]
  // The row that the part before ended with is read once more: it must still be the one that was checked.
  const walk = new ChainWalk(after === null ? known : [...known, { ...after, from: 'checked before' }], after, roots)
  const range = { db, organizationId, after, rowsMax }
  const isComplete = await walkRows(walk, range)
  if (isComplete) {
    walk.end(await readEnd(db, organizationId))
    for (const { id } of await readPlaceless(db, organizationId)) {
      walk.report('inserted', null, `Row ${id} has no place in the chain.`)
    }
  }
  return { organizationId, rows: walk.rows, faults: walk.faults, through: walk.through, isComplete }
}

type Rows = {
  readonly db: Database
  readonly organizationId: OrganizationId
  readonly after: ChainPosition | null
  readonly rowsMax: number
}

/** Walks the rows of a part, and returns whether it came to the last row of the chain. */
async function walkRows(walk: ChainWalk, { db, organizationId, after, rowsMax }: Rows): Promise<boolean> {
  let isForeign = false
  while (walk.rows < rowsMax) {
    const again = walk.through === null && after !== null ? 1 : 0
    const afterSequence = walk.through?.sequence ?? (after?.sequence ?? 1) - 1
    const limit = Math.min(rowsPerRead, rowsMax - walk.rows) + again
    const rows = await readAuditRows(db, { organizationId, afterSequence, limit })
    if (rows.length === 0) return true
    for (const row of rows) walk.add(row)
    if (!isForeign) isForeign = await reportForeignRow(walk, { db, organizationId }, rows)
  }
  return false
}

/** Whoever rewrites a chain leaves other rows than those that were taken into the tiles. Of these the first says enough. */
async function reportForeignRow(
  walk: ChainWalk,
  { db, organizationId }: Pick<Rows, 'db' | 'organizationId'>,
  rows: readonly AuditTable[],
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

/** Rows before the first place; nothing in the program writes such. */
function readPlaceless(db: Database, organizationId: OrganizationId): Promise<{ id: string }[]> {
  return db
    .selectFrom('audit')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where((expression) => expression.or([expression('sequence', 'is', null), expression('sequence', '<', 1)]))
    .limit(faultsMax)
    .execute()
}
