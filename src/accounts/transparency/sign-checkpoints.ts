import type { Transaction } from 'kysely'
import type { OrganizationId } from '../../core/ids.ts'
import type { Principal } from '../../core/principal.ts'
import { change, type ChangeParts } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import type { Tables } from '../../db/tables.ts'
import type { Clock } from '../../lib/clock.ts'
import { rootOf } from '../../lib/merkle-tree.ts'
import { parseNote, signNote, type SigningKey } from '../../lib/signed-note.ts'
import { formatCheckpoint, parseCheckpoint, type Checkpoint } from './checkpoint.ts'
import {
  appendAcceptance,
  appendCheckpoint,
  keptCheckpoints,
  readKeptNotes,
  verifiersOf,
  type KeptNotes,
} from './checkpoint-file.ts'
import { growTree, lockLog, MissingAuditRow, subtreesOf } from './tiles.ts'

export type Signing = {
  /** The newest first. */
  readonly keys: readonly SigningKey[]
  /** The first part of every log's name, as `odyssey.example.com`; a log that was signed once keeps its name. */
  readonly name: string
  /** Where notes are kept outside the database. */
  readonly file: string
}

/** Why nothing was signed for an organization. */
export type Refusal = { readonly organizationId: OrganizationId; readonly message: string }

export type SigningParts = { readonly db: Database; readonly clock: Clock }

/** Signs for every organization whose audit has grown. What does not go on from what was signed before is refused, never signed. */
export async function signCheckpoints(parts: SigningParts, signing: Signing): Promise<readonly Refusal[]> {
  if (signing.keys.length === 0) return []
  const grown = await parts.db
    .selectFrom('audit_chains')
    .leftJoin('audit_checkpoints', (join) =>
      join
        .onRef('audit_checkpoints.organization_id', '=', 'audit_chains.organization_id')
        .onRef('audit_checkpoints.size', '=', 'audit_chains.sequence'),
    )
    .select('audit_chains.organization_id')
    .where('audit_chains.sequence', '>', 0)
    .where('audit_checkpoints.size', 'is', null)
    .orderBy('audit_chains.organization_id')
    .execute()
  const kept = readKeptNotes(signing.file)
  const refusals: Refusal[] = []
  for (const { organization_id: organizationId } of grown) {
    const message = await signFor(parts, { ...signing, kept }, organizationId)
    if (message !== null) refusals.push({ organizationId, message })
  }
  return refusals
}

/** Signs for one organization, unless nothing was added since. Returns why it refused to, null where it did not. */
export function signCheckpoint(
  parts: SigningParts,
  signing: Signing,
  organizationId: OrganizationId,
): Promise<string | null> {
  return signFor(parts, { ...signing, kept: readKeptNotes(signing.file) }, organizationId)
}

async function signFor(
  { db, clock }: SigningParts,
  signing: Signing & { readonly kept: KeptNotes },
  organizationId: OrganizationId,
): Promise<string | null> {
  try {
    await growTree(db, organizationId)
  } catch (error) {
    if (error instanceof MissingAuditRow) return `${error.message} See odyssey audit verify.`
    throw error
  }
  const drafted = await db.transaction().execute((transaction) => draft(transaction, signing, organizationId))
  if (drafted === null || typeof drafted === 'string') return drafted
  const { origin, size, text, lastSize } = drafted
  // Who signs may be on another machine: nothing is locked meanwhile.
  const note = await signNote(
    text,
    signing.keys.map((key) => ({ name: origin, key })),
  )
  const isNext = await db.transaction().execute(async (transaction) => {
    await lockLog(transaction, organizationId)
    const last = await readLastCheckpoint(transaction, organizationId)
    if ((last?.size ?? null) !== lastSize) return false
    await transaction.updateTable('audit_logs').set({ origin }).where('organization_id', '=', organizationId).execute()
    await transaction
      .insertInto('audit_checkpoints')
      .values({ organization_id: organizationId, size, at: clock.nowMs(), note })
      .execute()
    return true
  })
  // Another process was faster, and what is signed next has to go on from its checkpoint as well.
  if (!isNext) return signFor({ db, clock }, signing, organizationId)
  appendCheckpoint(signing.file, note)
  return null
}

type Draft = {
  readonly origin: string
  readonly size: number
  readonly text: string
  /** Of the last checkpoint; null before the first. */
  readonly lastSize: number | null
}

/** What is to be signed; null where nothing was added, and why not where it does not go on from what was signed. */
async function draft(
  transaction: Transaction<Tables>,
  signing: Signing & { readonly kept: KeptNotes },
  organizationId: OrganizationId,
): Promise<Draft | string | null> {
  const log = await lockLog(transaction, organizationId)
  const origin = log.origin ?? `${signing.name}/audit/${organizationId}`
  const last = await readLastCheckpoint(transaction, organizationId)
  if (log.size === 0 || last?.size === log.size) return null
  const read = subtreesOf(transaction, organizationId)
  const kept = keptCheckpoints(
    signing.kept,
    verifiersOf(
      origin,
      signing.keys.map(({ publicKey }) => publicKey),
    ),
  )
  const refusal = await findContradiction(last === null ? kept : [last, ...kept], { size: log.size, read })
  if (refusal !== null) return refusal
  const text = formatCheckpoint({ origin, size: log.size, root: await rootOf(log.size, read) })
  return { origin, size: log.size, text, lastSize: last?.size ?? null }
}

type Tree = { readonly size: number; readonly read: ReturnType<typeof subtreesOf> }

/** Nothing may be signed that does not begin with everything that was signed before. */
async function findContradiction(signed: readonly Checkpoint[], { size, read }: Tree): Promise<string | null> {
  const largest = Math.max(0, ...signed.map((checkpoint) => checkpoint.size))
  if (largest > size) {
    return (
      `${largest} rows were signed for, and there are ${size}: an older database was restored, ` +
      'or rows were deleted. If it was restored, say so with odyssey audit accept-restore.'
    )
  }
  const root = await rootOf(largest, read)
  const isKept = signed.every((checkpoint) => checkpoint.size < largest || checkpoint.root.equals(root))
  return isKept ? null : `The first ${largest} rows are not those that were signed for. See odyssey audit verify.`
}

/**
 * Signs again for an audit that ends before what was signed for, since an older database was restored.
 *
 * The audit tells so. Notes from before are not expected from then on, and whoever kept one will see that the log is another.
 */
export async function acceptRestore(
  parts: ChangeParts,
  principal: Principal,
  { signing, organizationId }: { readonly signing: Signing; readonly organizationId: OrganizationId },
): Promise<void> {
  const publicKeys = signing.keys.map(({ publicKey }) => publicKey)
  const origin = await readOrigin(parts.db, organizationId)
  const kept = origin === null ? [] : keptCheckpoints(readKeptNotes(signing.file), verifiersOf(origin, publicKeys))
  const largest = kept.toSorted((one, other) => other.size - one.size)[0]
  const target = { action: 'audit:accept-restore', organizationId, target: organizationId }
  await change(parts, principal, target, async (_, note) => {
    note(largest === undefined ? null : { size: largest.size, root: largest.root.toString('base64') }, null)
  })
  if (origin !== null) appendAcceptance(signing.file, origin, parts.clock.nowMs())
}

/** The name of an organization's log; null where it was never signed. */
export async function readOrigin(db: Database, organizationId: OrganizationId): Promise<string | null> {
  const log = await db
    .selectFrom('audit_logs')
    .select('origin')
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  return log?.origin ?? null
}

/** The signed root of most rows; null before the first. */
export async function readLastCheckpoint(
  db: Database | Transaction<Tables>,
  organizationId: OrganizationId,
): Promise<(Checkpoint & { readonly note: string; readonly atMs: number }) | null> {
  const row = await db
    .selectFrom('audit_checkpoints')
    .select(['note', 'at'])
    .where('organization_id', '=', organizationId)
    .orderBy('size', 'desc')
    .limit(1)
    .executeTakeFirst()
  const checkpoint = row && parseCheckpoint(parseNote(row.note)?.text ?? '')
  return row && checkpoint ? { ...checkpoint, note: row.note, atMs: row.at } : null
}
