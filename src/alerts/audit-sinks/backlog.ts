import { sql } from 'kysely'
import { toEntry, type AuditEntry } from '../../accounts/audit/read-audit.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { installationChain } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import type { CheckpointEntry } from './ocsf.ts'

/** What of one organization's audit a sink has yet to be given. */
export type Backlog = {
  readonly sinkId: string
  readonly organizationId: OrganizationId
  /** The row up to which it was given everything, and the end of the audit. */
  readonly from: number
  readonly to: number
  /** The checkpoint up to which it was given all. */
  readonly checkpointSize: number
  /** When the first row that it was not given was written; null where only checkpoints are missing. */
  readonly oldestAtMs: number | null
}

/** Finds what is to be pushed, to one sink or to all that are enabled. A sink of the installation is given everybody's audit. */
export async function findBacklog(db: Database, sinkId?: string): Promise<readonly Backlog[]> {
  let query = db
    .selectFrom('audit_sinks as sink')
    .innerJoin('audit_chains as chain', (join) =>
      join.on(({ eb, or }) =>
        or([
          eb('sink.organization_id', '=', installationChain),
          eb('sink.organization_id', '=', eb.ref('chain.organization_id')),
        ]),
      ),
    )
    .leftJoin('audit_sink_cursors as cursor', (join) =>
      join.onRef('cursor.sink_id', '=', 'sink.id').onRef('cursor.organization_id', '=', 'chain.organization_id'),
    )
    .leftJoin('audit as oldest', (join) =>
      join
        .onRef('oldest.organization_id', '=', 'chain.organization_id')
        .on('oldest.sequence', '=', sql<number>`coalesce(cursor.sequence, 0) + 1`),
    )
    .select((eb) => [
      'sink.id as sinkId',
      'chain.organization_id as organizationId',
      eb.fn.coalesce('cursor.sequence', sql<number>`0`).as('from'),
      'chain.sequence as to',
      eb.fn.coalesce('cursor.checkpoint_size', sql<number>`0`).as('checkpointSize'),
      'oldest.at as oldestAtMs',
    ])
    .where('sink.disabled_at', 'is', null)
    .where(({ eb, or, exists, selectFrom }) =>
      or([
        eb('chain.sequence', '>', sql<number>`coalesce(cursor.sequence, 0)`),
        exists(
          selectFrom('audit_checkpoints')
            .select('size')
            .whereRef('audit_checkpoints.organization_id', '=', 'chain.organization_id')
            .where('size', '>', sql<number>`coalesce(cursor.checkpoint_size, 0)`)
            .whereRef('size', '<=', 'chain.sequence'),
        ),
      ]),
    )
    .orderBy('chain.organization_id')
  if (sinkId !== undefined) query = query.where('sink.id', '=', sinkId)
  return query.execute()
}

/** How far a sink is behind, over all the organizations of which it is told. */
export type Lag = { readonly rows: number; readonly oldestAtMs: number | null }

export function lagOf(backlog: readonly Backlog[]): Lag {
  const rows = backlog.reduce((sum, { from, to }) => sum + Math.max(0, to - from), 0)
  const times = backlog.flatMap(({ oldestAtMs }) => oldestAtMs ?? [])
  return { rows, oldestAtMs: times.length === 0 ? null : Math.min(...times) }
}

/** Receivers take so many at once, and so much. */
const rowsMax = 200
const bytesMax = 262_144

/** Something that was done, or a checkpoint that was signed. */
export type Item =
  | { readonly kind: 'row'; readonly entry: AuditEntry & { readonly sequence: number } }
  | { readonly kind: 'checkpoint'; readonly checkpoint: CheckpointEntry }

export type Batch = {
  readonly organizationId: OrganizationId
  readonly items: readonly Item[]
  /** How far a sink is once it was given this. */
  readonly sequence: number
  readonly checkpointSize: number
}

/** Reads what comes next for a sink. A checkpoint comes behind the last row that it signs for. */
export async function readBatch(db: Database, { organizationId, from, to, checkpointSize }: Backlog): Promise<Batch> {
  const found = await db
    .selectFrom('audit')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('sequence', '>', from)
    .where('sequence', '<=', to)
    .orderBy('sequence')
    .limit(rowsMax)
    .execute()
  const items: Item[] = []
  let bytes = 0
  for (const row of found) {
    bytes += (row.before?.length ?? 0) + (row.after?.length ?? 0) + 500
    if (items.length > 0 && bytes > bytesMax) break
    items.push({ kind: 'row', entry: { ...toEntry(row), sequence: row.sequence ?? 0 } })
  }
  const isWhole = items.length === found.length && found.length < rowsMax
  const last = items.at(-1)
  // Rows that are gone are not waited for: verification tells of them.
  const sequence = isWhole || last?.kind !== 'row' ? to : last.entry.sequence
  const checkpoints = await readCheckpoints(db, { organizationId, above: checkpointSize, upTo: sequence })
  return {
    organizationId,
    items: merge(items, checkpoints),
    sequence,
    checkpointSize: checkpoints.at(-1)?.size ?? checkpointSize,
  }
}

/** The first items of a batch, as a batch of their own. */
export function firstOf(batch: Batch, { from, checkpointSize }: Backlog, count: number): Batch {
  if (count >= batch.items.length) return batch
  const items = batch.items.slice(0, count)
  const rows = items.flatMap((item) => (item.kind === 'row' ? item.entry.sequence : []))
  const sizes = items.flatMap((item) => (item.kind === 'checkpoint' ? item.checkpoint.size : []))
  return { ...batch, items, sequence: rows.at(-1) ?? from, checkpointSize: sizes.at(-1) ?? checkpointSize }
}

type Sizes = { readonly organizationId: OrganizationId; readonly above: number; readonly upTo: number }

async function readCheckpoints(db: Database, { organizationId, above, upTo }: Sizes): Promise<CheckpointEntry[]> {
  const rows = await db
    .selectFrom('audit_checkpoints')
    .select(['size', 'at', 'note'])
    .where('organization_id', '=', organizationId)
    .where('size', '>', above)
    .where('size', '<=', upTo)
    .orderBy('size')
    .limit(rowsMax)
    .execute()
  return rows.map(({ size, at, note }) => ({
    organization: organizationId,
    size,
    at: new Date(at).toISOString(),
    note,
  }))
}

function merge(rows: readonly Item[], checkpoints: readonly CheckpointEntry[]): readonly Item[] {
  const placed = [
    ...rows.map((item) => ({ item, at: item.kind === 'row' ? item.entry.sequence : 0 })),
    ...checkpoints.map((checkpoint) => ({ item: { kind: 'checkpoint', checkpoint } as const, at: checkpoint.size })),
  ]
  // The order of those at the same place stays, so the row comes first.
  return placed.toSorted((one, other) => one.at - other.at).map(({ item }) => item)
}
