import type { OrganizationId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import type { NoteVerifier } from '../../lib/signed-note.ts'
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
