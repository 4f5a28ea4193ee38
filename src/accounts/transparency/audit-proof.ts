// A file that shows, with a public key and nothing else, that a row stands in the audit.

import { z } from 'zod'
import { type ApiError, conflict, invalidRequest } from '../../core/error.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { notFound, requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import { hashAuditRow } from '../../db/audit-chain.ts'
import type { Database } from '../../db/database.ts'
import { proveConsistency, proveInclusion, rootOfInclusion } from '../../lib/merkle-tree.ts'
import { findSigners, parseNote, type NoteVerifier } from '../../lib/signed-note.ts'
import { auditLeaf } from '../audit/chain-walk.ts'
import { parseCheckpoint } from './checkpoint.ts'
import { readDeletedTo, readRowHashes, type RowRange } from './row-hashes.ts'
import { readLastCheckpoint } from './sign-checkpoints.ts'
import { hashesPerTile, readTile, subtreesOf } from './tiles.ts'
import { withCosignatures } from './witnesses.ts'

const base64 = z.string().regex(/^[\d+/A-Za-z]{43}=$/, 'must be 32 bytes in base64')
const organizationId = z.templateLiteral(['org_', z.string()])

/** The row is as the database holds it, since its hash is over just that. */
export const auditProofSchema = z
  .strictObject({
    format: z.literal('odyssey-audit-proof-1'),
    row: z.strictObject({
      id: z.string(),
      at: z.int(),
      organization_id: organizationId,
      actor: z.string(),
      action: z.string(),
      target: z.string(),
      before: z.string().nullable(),
      after: z.string().nullable(),
      address: z.string().nullable(),
      request_id: z.string().nullable(),
      sequence: z.int().min(1),
      previous_hash: z.string().regex(/^[\da-f]{64}$/),
    }),
    inclusion: z.array(base64).describe('From the leaf upwards, as RFC 6962 orders it.'),
    checkpoint: z.string().describe('The signed note that the proof leads to.'),
  })
  .meta({ id: 'AuditProof' })

export type AuditProof = z.output<typeof auditProofSchema>

/** Throws `not-found` for a row that the principal may not see, and `conflict` for one that was not signed for yet. */
export async function proveAuditRow(
  db: Database,
  principal: Principal,
  { organizationId: id, rowId }: { readonly organizationId: OrganizationId; readonly rowId: string },
): Promise<AuditProof> {
  requirePermission(principal, 'audit:read', { organizationId: id })
  const found = await db
    .selectFrom('audit')
    .selectAll()
    .where('organization_id', '=', id)
    .where('id', '=', rowId)
    .executeTakeFirst()
  if (found === undefined || found.sequence === null) throw notFound()
  const { hash: _, sequence, previous_hash, ...row } = found
  const checkpoint = await readLastCheckpoint(db, id)
  if (checkpoint === null || checkpoint.size < sequence) throw notSigned()
  const inclusion = await proveInclusion(sequence - 1, checkpoint.size, subtreesOf(db, id))
  return {
    format: 'odyssey-audit-proof-1',
    row: { ...row, sequence, previous_hash: previous_hash ?? '' },
    inclusion: inclusion.map((hash) => hash.toString('base64')),
    checkpoint: await withCosignatures(db, id, checkpoint),
  }
}

function notSigned(): ApiError {
  return conflict('This was not signed for yet; it will be within ten minutes.')
}

/** Needs no database and no secret. Returns what is wrong with the proof, null where it holds. */
export function findProofFault(
  { row: { sequence, previous_hash, ...row }, inclusion, checkpoint }: AuditProof,
  verifier: NoteVerifier,
): string | null {
  const note = parseNote(checkpoint)
  const signed = note && parseCheckpoint(note.text)
  if (note === null || signed === null) return 'The checkpoint is none.'
  if (findSigners(note, [verifier]).length === 0)
    return `The checkpoint is not signed by ${verifier.name} with this key.`
  if (signed.origin !== verifier.name) return `The checkpoint is of ${signed.origin}, not of ${verifier.name}.`
  const leaf = auditLeaf(hashAuditRow(row, { sequence, previous_hash }))
  const proof = inclusion.map((hash) => Buffer.from(hash, 'base64'))
  const root = rootOfInclusion(leaf, { index: sequence - 1, size: signed.size, proof })
  if (root?.equals(signed.root) === true) return null
  return `The row is not row ${sequence} of the ${signed.size} that were signed for.`
}

export type AuditConsistency = { readonly from: number; readonly to: number; readonly proof: readonly string[] }

/** Shows that the log of `to` rows begins with the one of `from` rows; both are no larger than what is in the log. */
export async function proveAuditConsistency(
  db: Database,
  principal: Principal,
  {
    organizationId: id,
    from,
    to,
  }: { readonly organizationId: OrganizationId; readonly from: number; readonly to: number },
): Promise<AuditConsistency> {
  requirePermission(principal, 'audit:read', { organizationId: id })
  const checkpoint = await readLastCheckpoint(db, id)
  if (from > to) throw invalidRequest(['from'], 'value', 'from must be no larger than to.')
  if (checkpoint === null || checkpoint.size < to) throw notSigned()
  const proof = await proveConsistency(from, to, subtreesOf(db, id))
  return { from, to, proof: proof.map((hash) => hash.toString('base64')) }
}

/** Which part of a log a reader asks for, as C2SP's tlog-tiles names it. */
export type LogTile = {
  /** How many times 256 leaves a hash stands for; `entries` are the hashes of the rows, of which the leaves are made. */
  readonly level: number | 'entries'
  readonly number: number
  /** How many of the 256. */
  readonly width: number
}

/** Reads the path of a tile behind its level, as `x001/x234/067.p/5`; null where it is none. */
export function parseTilePath(path: string): Pick<LogTile, 'number' | 'width'> | null {
  const [, above = '', last = '', width = '256'] = /^((?:x\d{3}\/)*)(\d{3})(?:\.p\/([1-9]\d{0,2}))?$/.exec(path) ?? []
  const number = Number(`${above.replaceAll(/[x/]/g, '')}${last}`)
  const isShortest = !above.startsWith('x000')
  const isPart = Number(width) < hashesPerTile || !path.includes('.p/')
  return last !== '' && above.length <= 20 && isShortest && isPart ? { number, width: Number(width) } : null
}

/** Reads a part of a log. Throws `not-found` for what was not signed for: readers ask for what a checkpoint speaks of. */
export async function readLogTile(
  db: Database,
  principal: Principal,
  { organizationId: id, tile }: { readonly organizationId: OrganizationId; readonly tile: LogTile },
): Promise<Buffer> {
  requirePermission(principal, 'audit:read', { organizationId: id })
  const { level, number, width } = tile
  const end = number * hashesPerTile + width
  const leavesPerHash = level === 'entries' ? 1 : hashesPerTile ** level
  const checkpoint = await readLastCheckpoint(db, id)
  if (checkpoint === null || end * leavesPerHash > checkpoint.size) throw notFound()
  if (level === 'entries') return readEntries(db, id, { from: end - width, to: end })
  const hashes = await readTile(db, id, { level, number })
  if (hashes.length < width) throw notFound()
  return Buffer.concat(hashes.slice(0, width))
}

/** The hashes of rows, each behind its length; those of deleted rows too. */
async function readEntries(
  db: Database,
  organizationId: OrganizationId,
  { from, to }: Omit<RowRange, 'organizationId'>,
) {
  const deletedTo = Math.min(to, await readDeletedTo(db, organizationId))
  const kept = await readRowHashes(db, { organizationId, from, to: deletedTo })
  const rows = await db
    .selectFrom('audit')
    .select('hash')
    .where('organization_id', '=', organizationId)
    .where('sequence', '>', Math.max(from, deletedTo))
    .where('sequence', '<=', to)
    .orderBy('sequence')
    .execute()
  const hashes = [...kept, ...rows.map(({ hash }) => hash ?? '')]
  if (hashes.length < to - from) throw notFound()
  return Buffer.concat(hashes.flatMap((hash) => [Buffer.of(0, 32), Buffer.from(hash, 'hex')]))
}
