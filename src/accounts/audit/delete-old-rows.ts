import { sql, type Transaction } from 'kysely'
import type { OrganizationId } from '../../core/ids.ts'
import type { Principal } from '../../core/principal.ts'
import { change, installationChain, type ChangeParts } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import type { Tables } from '../../db/tables.ts'
import { rootOf } from '../../lib/merkle-tree.ts'
import { readSignedRoots } from '../transparency/known-roots.ts'
import { keepRowHashes, readRowHashes } from '../transparency/row-hashes.ts'
import { lockLog, subtreesOf } from '../transparency/tiles.ts'
import { chainStart } from '../../db/audit-chain.ts'
import { deletionAction } from './deletions.ts'
import { readRestores, restoreActions } from './restores.ts'
import { listAuditedOrganizations } from './read-audit.ts'
import { verifyAuditPart } from './verify-audit.ts'

const dayMs = 86_400_000
/** Some hundredths of a second in which nobody else writes. */
const rowsAtOnce = 2_048

export type Retention = {
  /** Older rows are deleted. */
  readonly daysMax: number
  /** Where notes are kept outside the database. */
  readonly file: string
}

/** What came of it for an organization of which something is due. */
export type Deletion = {
  readonly organizationId: OrganizationId
  readonly rows: number
  /** Why nothing was deleted; null where it was. */
  readonly refusal: string | null
  /** Rows that are kept for sinks that have yet to be given them; null where there are none. */
  readonly held: Held | null
}

export type Held = {
  readonly rows: number
  /** The sinks by their names, in order. */
  readonly sinks: readonly string[]
}

/**
 * Deletes the rows of every audit that are older than so many days, as far as a checkpoint speaks of them and every sink was
 * given them. Their hashes stay. A row of the audit tells of it before the first of them is gone.
 */
export async function deleteOldAuditRows(
  parts: ChangeParts,
  principal: Principal,
  retention: Retention,
): Promise<readonly Deletion[]> {
  const done: Deletion[] = []
  for (const organizationId of await listAuditedOrganizations(parts.db)) {
    const before = await readLog(parts.db, organizationId)
    // Whoever was ended in the midst of deleting goes on here.
    while (await deleteSome(parts.db, organizationId));
    const { due, held } = await findDue(parts, organizationId, retention)
    const refusal = due === null ? null : await findFault(parts.db, { organizationId, ...due })
    if (refusal === null && due !== null) await announce(parts, principal, { organizationId, ...due })
    while (await deleteSome(parts.db, organizationId));
    const { deletedTo } = await readLog(parts.db, organizationId)
    const rows = deletedTo - before.deletedTo
    if (rows > 0 || refusal !== null || held !== null) done.push({ organizationId, rows, refusal, held })
  }
  return done
}

async function readLog(db: Database | Transaction<Tables>, organizationId: OrganizationId) {
  const log = await db
    .selectFrom('audit_logs')
    .select(['deleted_to', 'delete_to'])
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  return { deletedTo: log?.deleted_to ?? 0, deleteTo: log?.delete_to ?? 0 }
}

type Due = {
  /** The rows behind this one, up to that one. */
  readonly from: number
  readonly through: number
  readonly olderThanMs: number
  readonly signed: { readonly size: number; readonly root: Buffer }
}

/** The rows that may be deleted, null where there are none, and those that might be if no sink held them up. */
async function findDue(
  { db, clock }: ChangeParts,
  organizationId: OrganizationId,
  { daysMax, file }: Retention,
): Promise<{ readonly due: Due | null; readonly held: Held | null }> {
  const olderThanMs = clock.nowMs() - daysMax * dayMs
  const { deleteTo: from } = await readLog(db, organizationId)
  const { roots } = await readSignedRoots(db, organizationId, file)
  const signed = roots.toSorted((one, other) => other.size - one.size)[0]
  if (signed === undefined || signed.size <= from) return { due: null, held: null }
  const { sequence: firstKept } = await db
    .selectFrom('audit')
    .select((eb) => eb.fn.min<number | null>('sequence').as('sequence'))
    .where('organization_id', '=', organizationId)
    .where('sequence', '>', from)
    .where('at', '>=', olderThanMs)
    .executeTakeFirstOrThrow()
  const old = firstKept === null ? signed.size : firstKept - 1
  const wanted = Math.min(old, signed.size)
  const behind = await readSinksBehind(db, organizationId, wanted)
  const through = Math.min(wanted, ...behind.map(({ given }) => given))
  const rows = wanted - Math.max(from, through)
  const held = behind.length > 0 && rows > 0 ? { rows, sinks: behind.map(({ name }) => name) } : null
  // That something was deleted is not worth a row of its own that says so.
  const other = await db
    .selectFrom('audit')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('sequence', '>', from)
    .where('sequence', '<=', through)
    .where('action', '!=', deletionAction)
    .limit(1)
    .executeTakeFirst()
  return { due: other === undefined ? null : { from, through, olderThanMs, signed }, held }
}

/** The sinks in use that were not given all rows up to this one, and the row up to which they were. */
async function readSinksBehind(db: Database, organizationId: OrganizationId, wanted: number) {
  const sinks = await db
    .selectFrom('audit_sinks as sink')
    .leftJoin('audit_sink_cursors as cursor', (join) =>
      join.onRef('cursor.sink_id', '=', 'sink.id').on('cursor.organization_id', '=', organizationId),
    )
    .select(['sink.name', sql<number>`coalesce(cursor.sequence, 0)`.as('given')])
    .where('sink.organization_id', 'in', [installationChain, organizationId])
    .where('sink.disabled_at', 'is', null)
    .orderBy('sink.name')
    .execute()
  return sinks.map(({ name, given }) => ({ name, given: Number(given) })).filter(({ given }) => given < wanted)
}

type OwnDue = Due & { readonly organizationId: OrganizationId }

/** What is wrong with the rows that would be gone: nobody could find it afterwards. */
async function findFault(db: Database, { organizationId, from, through, signed }: OwnDue): Promise<string | null> {
  const root = await rootOf(signed.size, subtreesOf(db, organizationId)).catch(() => null)
  if (root?.equals(signed.root) !== true) return `The first ${signed.size} rows are not those that were signed for.`
  const [hash] = from === 0 ? [chainStart] : await readRowHashes(db, { organizationId, from: from - 1, to: from })
  const after = from === 0 ? null : { sequence: from, hash: hash ?? '' }
  const { faults } = await verifyAuditPart(db, organizationId, { anchors: [], after, rowsMax: through - from })
  return faults[0]?.message ?? null
}

/** Tells of the deletion and asks for it at once. Another process that was faster leaves nothing to tell. */
async function announce(
  parts: ChangeParts,
  principal: Principal,
  { organizationId, from, through, olderThanMs }: OwnDue,
): Promise<void> {
  const action = { action: deletionAction, organizationId, target: organizationId }
  try {
    await change(parts, principal, action, async (transaction, note) => {
      await lockLog(transaction, organizationId)
      if ((await readLog(transaction, organizationId)).deleteTo !== from) throw new TakenAlready()
      const restores = organizationId === installationChain ? await readOldRestores(transaction, { from, through }) : []
      const told = restores.length > 0 ? { restores } : {}
      note(null, { from: from + 1, through, olderThan: new Date(olderThanMs).toISOString(), ...told })
      await transaction
        .updateTable('audit_logs')
        .set({ delete_to: through })
        .where('organization_id', '=', organizationId)
        .execute()
    })
  } catch (error) {
    if (!(error instanceof TakenAlready)) throw error
  }
}

class TakenAlready extends Error {
  override readonly name = 'TakenAlready'
}

/** What deleted rows say of restores has to be known ever after: anchors from before them count no more. */
async function readOldRestores(transaction: Transaction<Tables>, { from, through }: Pick<Due, 'from' | 'through'>) {
  const rows = await transaction
    .selectFrom('audit')
    .select(['action', 'target', 'after'])
    .where('organization_id', '=', installationChain)
    .where('action', 'in', restoreActions)
    .where('sequence', '>', from)
    .where('sequence', '<=', through)
    .execute()
  return rows.flatMap(readRestores)
}

/** Deletes some of the rows that are to be deleted, and keeps their hashes. Returns whether there may be more. */
function deleteSome(db: Database, organizationId: OrganizationId): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    await lockLog(transaction, organizationId)
    const { deletedTo: from, deleteTo } = await readLog(transaction, organizationId)
    const through = Math.min(deleteTo, from + rowsAtOnce)
    if (through <= from) return false
    const rows = await transaction
      .selectFrom('audit')
      .select('hash')
      .where('organization_id', '=', organizationId)
      .where('sequence', '>', from)
      .where('sequence', '<=', through)
      .orderBy('sequence')
      .execute()
    // Rows that somebody has taken away are told by verification, which needs what is left.
    if (rows.length < through - from) return false
    await keepRowHashes(transaction, { organizationId, from, hashes: rows.map(({ hash }) => hash ?? '') })
    await transaction
      .deleteFrom('audit')
      .where('organization_id', '=', organizationId)
      .where('sequence', '>', from)
      .where('sequence', '<=', through)
      .execute()
    await transaction
      .updateTable('audit_logs')
      .set({ deleted_to: through })
      .where('organization_id', '=', organizationId)
      .execute()
    return true
  })
}
