import type { DirectoryConflictId } from '../../core/ids.ts'
import { requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import { randomId } from '../../lib/random-id.ts'
import type { AccountsParts } from '../parts.ts'
import { findDirectory, type DirectoryReference } from './directories.ts'
import type { AskingDirectory } from './directory-tokens.ts'

/** Something that a directory wanted and was refused. */
export type DirectoryConflict = {
  readonly id: DirectoryConflictId
  readonly atMs: number
  readonly method: string
  readonly path: string
  readonly status: number
  readonly detail: string
  readonly requestId: string
}

const conflictsKept = 200

export async function noteConflict(
  { db, clock }: Pick<AccountsParts, 'db' | 'clock'>,
  { id: directory_id, organizationId: organization_id }: AskingDirectory,
  { requestId, ...refused }: Omit<DirectoryConflict, 'id' | 'atMs'>,
): Promise<void> {
  const row = { directory_id, organization_id, at: clock.nowMs(), request_id: requestId, ...refused }
  await db
    .insertInto('directory_conflicts')
    .values({ id: `dcon_${randomId()}`, ...row })
    .execute()
  const oldest = await db
    .selectFrom('directory_conflicts')
    .select('at')
    .where('directory_id', '=', directory_id)
    .orderBy('at', 'desc')
    .offset(conflictsKept)
    .limit(1)
    .executeTakeFirst()
  if (oldest === undefined) return
  await db
    .deleteFrom('directory_conflicts')
    .where('directory_id', '=', directory_id)
    .where('at', '<=', oldest.at)
    .execute()
}

/** The newest first. */
export async function listConflicts(
  { db }: AccountsParts,
  principal: Principal,
  reference: DirectoryReference,
): Promise<readonly DirectoryConflict[]> {
  requirePermission(principal, 'directories:read', reference)
  const { id } = await findDirectory(db, reference)
  const rows = await db
    .selectFrom('directory_conflicts')
    .selectAll()
    .where('directory_id', '=', id)
    .orderBy('at', 'desc')
    .orderBy('id')
    .limit(conflictsKept)
    .execute()
  return rows.map(({ at: atMs, request_id: requestId, id: found, method, path, status, detail }) => {
    return { id: found, atMs, method, path, status, detail, requestId }
  })
}
