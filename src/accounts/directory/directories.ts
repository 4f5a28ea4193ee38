import type { Selectable } from 'kysely'
import { invalidRequest } from '../../core/error.ts'
import type { DirectoryId, DirectoryTokenId, OrganizationId } from '../../core/ids.ts'
import { notFound, requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { Role } from '../../core/role.ts'
import { change } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import type { DirectoryTable } from '../../db/tables/directory.ts'
import { randomId } from '../../lib/random-id.ts'
import { lockOrganization } from '../access/lock-organization.ts'
import { changeAccess } from '../change-access.ts'
import { checkName } from '../check-name.ts'
import { requireGrant } from '../members.ts'
import type { AccountsParts } from '../parts.ts'
import { addToken, type DirectoryIds, readTokens, replaceToken } from './directory-tokens.ts'

export type DirectorySettings = { readonly name: string; readonly defaultRole: Role }

export type DirectoryToken = {
  readonly id: DirectoryTokenId
  readonly lastFour: string
  readonly createdAtMs: number
  readonly expiresAtMs: number | null
}

export type Directory = DirectorySettings & {
  readonly id: DirectoryId
  readonly createdAtMs: number
  /** When it last asked for anything; null where it never has. */
  readonly lastSeenAtMs: number | null
  /** Those that it has and that it lets in, and its groups. */
  readonly users: number
  readonly activeUsers: number
  readonly groups: number
  /** Those that are good now. */
  readonly tokens: readonly DirectoryToken[]
}

export type DirectoryReference = { readonly id: string; readonly organizationId: OrganizationId }
type DirectoryRow = Selectable<DirectoryTable>

export async function createDirectory(
  parts: AccountsParts,
  principal: Principal,
  { organizationId, ...settings }: DirectorySettings & { readonly organizationId: OrganizationId },
): Promise<{ readonly id: DirectoryId; readonly token: string }> {
  requirePermission(principal, 'directories:create', { organizationId })
  const id: DirectoryId = `dir_${randomId()}`
  const columns = toColumns(principal, settings)
  const action = { action: 'directories:create', organizationId, target: id }
  const token = await change(parts, principal, action, async (transaction, note) => {
    await lockOrganization(transaction, organizationId)
    await transaction
      .insertInto('directories')
      .values({
        id,
        organization_id: organizationId,
        ...columns,
        created_at: parts.clock.nowMs(),
        last_seen_at: null,
      })
      .execute()
    const made = await addToken(parts, transaction, principal, { id, organization_id: organizationId })
    note(null, { ...columns, token: made.id })
    return made.token
  })
  return { id, token }
}

/** Nobody becomes an owner by a directory’s word. */
function toColumns(principal: Principal, { name, defaultRole }: DirectorySettings) {
  if (defaultRole === 'owner') throw invalidRequest(['defaultRole'], 'value', 'No directory makes owners.')
  requireGrant(principal, defaultRole)
  return { name: checkName(name), default_role: defaultRole }
}

/** Makes another token, which is shown only now. */
export async function rotateDirectoryToken(
  parts: AccountsParts,
  principal: Principal,
  reference: DirectoryReference,
  overlapMs: number,
): Promise<string> {
  const { organizationId, id } = reference
  requirePermission(principal, 'directories:update', { organizationId })
  const action = { action: 'directories:rotate', organizationId, target: id }
  return change(parts, principal, action, async (transaction, note) => {
    const directory = await findDirectory(transaction, reference)
    const made = await replaceToken(parts, transaction, principal, { directory, overlapMs })
    note(null, { token: made.id, ended: made.ended, overlap_ms: overlapMs })
    return made.token
  })
}

export async function updateDirectory(
  parts: AccountsParts,
  principal: Principal,
  reference: DirectoryReference,
  changes: Partial<DirectorySettings>,
): Promise<void> {
  const { organizationId, id } = reference
  requirePermission(principal, 'directories:update', { organizationId })
  const action = { action: 'directories:update', organizationId, target: id }
  await change(parts, principal, action, async (transaction, note) => {
    const row = await findDirectory(transaction, reference)
    const before = { name: row.name, defaultRole: row.default_role }
    const columns = toColumns(principal, { ...before, ...changes })
    await transaction.updateTable('directories').set(columns).where('id', '=', row.id).execute()
    note({ name: row.name, default_role: row.default_role }, columns)
  })
}

/** Forgets a directory. Its members stay as they are: whom it has switched off is suspended, and by nobody else than us. */
export async function removeDirectory(
  parts: AccountsParts,
  principal: Principal,
  reference: DirectoryReference,
): Promise<void> {
  const { organizationId, id } = reference
  requirePermission(principal, 'directories:remove', { organizationId })
  const action = { action: 'directories:remove', organizationId, target: id }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    const row = await findDirectory(transaction, reference)
    const own = transaction.selectFrom('directory_users').select('member_id').where('directory_id', '=', row.id)
    await transaction
      .updateTable('members')
      .set({ suspended_by: 'manual' })
      .where('organization_id', '=', organizationId)
      .where('suspended_by', '=', 'scim')
      .where('id', 'in', own)
      .execute()
    await transaction.deleteFrom('directories').where('id', '=', row.id).execute()
    note({ name: row.name }, null)
  })
}

export async function listDirectories(
  { db, clock }: AccountsParts,
  principal: Principal,
  organizationId: OrganizationId,
): Promise<readonly Directory[]> {
  requirePermission(principal, 'directories:read', { organizationId })
  const own = db.selectFrom('directories').where('organization_id', '=', organizationId)
  const rows = await own.selectAll().orderBy('created_at').orderBy('id').execute()
  return describe(db, { rows, ids: own.select('id'), nowMs: clock.nowMs() })
}

export async function readDirectory(
  { db, clock }: AccountsParts,
  principal: Principal,
  reference: DirectoryReference,
): Promise<Directory> {
  requirePermission(principal, 'directories:read', reference)
  const row = await findDirectory(db, reference)
  const [found] = await describe(db, { rows: [row], ids: [row.id], nowMs: clock.nowMs() })
  if (found === undefined) throw notFound()
  return found
}

export async function findDirectory(
  db: Pick<Database, 'selectFrom'>,
  { id, organizationId }: DirectoryReference,
): Promise<DirectoryRow> {
  const row = await db
    .selectFrom('directories')
    .selectAll()
    .where('id', '=', id as DirectoryId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  return row
}

type Described = {
  readonly rows: readonly DirectoryRow[]
  readonly ids: DirectoryIds
  readonly nowMs: number
}

/** Asks three times for all of them together, however many there are. */
async function describe(db: Database, { rows, ids, nowMs }: Described): Promise<Directory[]> {
  const users = await db
    .selectFrom('directory_users')
    .select(({ fn }) => ['directory_id', fn.countAll<number>().as('users'), fn.sum<number>('active').as('active')])
    .where('directory_id', 'in', ids)
    .groupBy('directory_id')
    .execute()
  const groups = await db
    .selectFrom('directory_groups')
    .select(({ fn }) => ['directory_id', fn.countAll<number>().as('count')])
    .where('directory_id', 'in', ids)
    .groupBy('directory_id')
    .execute()
  const tokens = Map.groupBy(await readTokens(db, ids, nowMs), (token) => token.directory_id)
  const usersOf = new Map(users.map((row) => [row.directory_id, row]))
  const groupsOf = new Map(groups.map((row) => [row.directory_id, row.count]))
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    defaultRole: row.default_role,
    createdAtMs: row.created_at,
    lastSeenAtMs: row.last_seen_at,
    users: Number(usersOf.get(row.id)?.users ?? 0),
    activeUsers: Number(usersOf.get(row.id)?.active ?? 0),
    groups: Number(groupsOf.get(row.id) ?? 0),
    tokens: (tokens.get(row.id) ?? []).map(
      ({ id, last_four: lastFour, created_at: createdAtMs, expires_at: expiresAtMs }) => {
        return { id, lastFour, createdAtMs, expiresAtMs }
      },
    ),
  }))
}
