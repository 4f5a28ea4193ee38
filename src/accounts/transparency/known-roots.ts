import type { OrganizationId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import { hasQuorum, parseNote, readCosignatures, type NoteVerifier, type Quorum } from '../../lib/signed-note.ts'
import type { KnownRoot } from '../audit/chain-walk.ts'
import { keptCheckpoints, parseSigned, readKeptNotes, verifiersOf } from './checkpoint-file.ts'
import { readOrigin } from './sign-checkpoints.ts'
import { listAuditKeys } from './signing-keys.ts'

export type SignedRoots = {
  readonly roots: readonly KnownRoot[]
  /** The sizes of checkpoints in the database that no key of the installation has signed. */
  readonly forged: readonly number[]
}

/** Who signs for an organization's log, the newest first; nobody where it was never signed. */
export async function readVerifiers(db: Database, organizationId: OrganizationId): Promise<readonly NoteVerifier[]> {
  const origin = await readOrigin(db, organizationId)
  if (origin === null) return []
  const keys = (await listAuditKeys(db)).map(({ publicKey }) => publicKey)
  return verifiersOf(origin, keys.toReversed())
}

/** The signed roots of an organization's log: those of the database, and those of the file beside it. */
export async function readSignedRoots(
  db: Database,
  organizationId: OrganizationId,
  file: string,
): Promise<SignedRoots> {
  const verifiers = await readVerifiers(db, organizationId)
  const origin = verifiers[0]?.name
  if (origin === undefined) return { roots: [], forged: [] }
  const rows = await db
    .selectFrom('audit_checkpoints')
    .select(['size', 'at', 'note'])
    .where('organization_id', '=', organizationId)
    .orderBy('size')
    .execute()
  const roots: KnownRoot[] = []
  const forged: number[] = []
  for (const { size, at, note } of rows) {
    const checkpoint = parseSigned(note, verifiers)
    if (checkpoint?.size !== size) forged.push(size)
    else roots.push({ size, root: checkpoint.root, from: `signed at ${new Date(at).toISOString()}` })
  }
  const kept = keptCheckpoints(readKeptNotes(file), verifiers)
  return { roots: [...roots, ...kept.map(({ size, root }) => ({ size, root, from: `signed in ${file}` }))], forged }
}

/**
 * The rows of the largest checkpoint that enough witnesses have cosigned, 0 where there is none, and the sizes of those
 * over which a witness's name stands although it has not signed them.
 */
export async function readWitnessed(
  db: Database,
  organizationId: OrganizationId,
  quorum: Quorum,
): Promise<{ readonly size: number; readonly forged: readonly number[] }> {
  const rows = await db
    .selectFrom('audit_cosignatures as cosignature')
    .innerJoin('audit_checkpoints as checkpoint', (join) =>
      join
        .onRef('checkpoint.organization_id', '=', 'cosignature.organization_id')
        .onRef('checkpoint.size', '=', 'cosignature.size'),
    )
    .select(['checkpoint.size', 'checkpoint.note', 'cosignature.line'])
    .where('checkpoint.organization_id', '=', organizationId)
    .execute()
  let size = 0
  const forged: number[] = []
  for (const [own, lines] of Map.groupBy(rows, (row) => row.size)) {
    const note = parseNote(`${lines[0]?.note ?? ''}${lines.map(({ line }) => line).join('')}`)
    if (note === null || readCosignatures(note, quorum.cosigners).forged.length > 0) forged.push(own)
    else if (hasQuorum(note, quorum)) size = Math.max(size, own)
  }
  return { size, forged }
}
