import { invalidRequest } from '../core/error.ts'
import type { ManagementKeyId, OrganizationId } from '../core/ids.ts'
import { notFound, requirePermission } from '../core/permission.ts'
import type { ManagementKeyPrincipal, Principal } from '../core/principal.ts'
import type { Role } from '../core/role.ts'
import { actorOf, installationChain } from '../db/change.ts'
import type { ManagementKeyTable } from '../db/tables/accounts.ts'
import { randomId } from '../lib/random-id.ts'
import { lockOrganization } from './access/lock-organization.ts'
import { changeAccess } from './change-access.ts'
import { checkName } from './check-name.ts'
import { createKey, hashKey, isWellFormedKey } from './key-format.ts'
import { requireGrant } from './members.ts'
import { readPage, type Page, type PageRequest } from './page.ts'
import type { AccountsParts } from './parts.ts'

/** The organization that a key manages; null stands for the whole installation. */
type Scope = { readonly organizationId: OrganizationId | null }

export type NewManagementKey = Scope & {
  readonly name: string
  readonly role: Role
  readonly expiresAtMs: number | null
}

export type ManagementKeySummary = Scope & {
  readonly id: ManagementKeyId
  readonly name: string
  readonly role: Role
  readonly lastFour: string
  readonly createdAtMs: number
  readonly expiresAtMs: number | null
  readonly revokedAtMs: number | null
  /** Whether it is out of use because whoever made it is suspended. */
  readonly isSuspended: boolean
}

/** Makes a key for programs that manage things. The answer is the only place where it can ever be read. */
export async function createManagementKey(
  parts: AccountsParts,
  principal: Principal,
  { organizationId, name, role, expiresAtMs }: NewManagementKey,
): Promise<{ readonly id: ManagementKeyId; readonly key: string }> {
  requirePermission(principal, 'management-keys:create', { organizationId })
  requireGrant(principal, role)
  const now = parts.clock.nowMs()
  if (expiresAtMs !== null && !(Number.isSafeInteger(expiresAtMs) && expiresAtMs > now)) {
    throw invalidRequest(['expires'], 'value', 'The end must lie in the future.')
  }
  const id: ManagementKeyId = `mkey_${randomId()}`
  const key = createKey('management')
  const shown = { name: checkName(name), role, last_four: key.slice(-4), expires_at: expiresAtMs }
  const action = {
    action: 'management-keys:create',
    organizationId: organizationId ?? installationChain,
    target: id,
  }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    if (organizationId !== null) await lockOrganization(transaction, organizationId)
    const hidden = {
      key_hash: hashKey(parts.hashSecret, key),
      created_at: now,
      revoked_at: null,
      created_by: actorOf(principal),
      suspended_by: null,
    }
    await transaction
      .insertInto('management_keys')
      .values({ id, organization_id: organizationId, ...shown, ...hidden })
      .execute()
    note(null, shown)
  })
  return { id, key }
}

/** On whose behalf a management key asks, or null for one that is unknown, revoked, suspended, expired or of a disabled organization. */
export async function findManagementPrincipal(
  { db, clock, hashSecret }: AccountsParts,
  key: string,
): Promise<ManagementKeyPrincipal | null> {
  if (!isWellFormedKey(key, 'management')) return null
  const row = await db
    .selectFrom('management_keys')
    .leftJoin('organizations', 'organizations.id', 'management_keys.organization_id')
    .select(['management_keys.id', 'management_keys.organization_id', 'role', 'expires_at', 'disabled_at'])
    .where('key_hash', '=', hashKey(hashSecret, key))
    .where('revoked_at', 'is', null)
    .where('suspended_by', 'is', null)
    .executeTakeFirst()
  if (row === undefined || row.disabled_at !== null) return null
  if (row.expires_at !== null && row.expires_at <= clock.nowMs()) return null
  return { kind: 'management-key', managementKeyId: row.id, organizationId: row.organization_id, role: row.role }
}

export async function listManagementKeys(
  { db }: AccountsParts,
  principal: Principal,
  request: PageRequest & Scope,
): Promise<Page<ManagementKeySummary>> {
  const { organizationId } = request
  requirePermission(principal, 'management-keys:read', { organizationId })
  const query = db.selectFrom('management_keys').selectAll()
  const scoped =
    organizationId === null
      ? query.where('organization_id', 'is', null)
      : query.where('organization_id', '=', organizationId)
  return readPage(scoped, request, summarize)
}

export async function readManagementKey(
  { db }: AccountsParts,
  principal: Principal,
  { id, organizationId }: Scope & { readonly id: string },
): Promise<ManagementKeySummary> {
  requirePermission(principal, 'management-keys:read', { organizationId })
  const row = await db
    .selectFrom('management_keys')
    .selectAll()
    .where('id', '=', id as ManagementKeyId)
    .executeTakeFirst()
  if (row === undefined || row.organization_id !== organizationId) throw notFound()
  return summarize(row)
}

export async function revokeManagementKey(
  parts: AccountsParts,
  principal: Principal,
  { id, organizationId }: Scope & { readonly id: string },
): Promise<void> {
  requirePermission(principal, 'management-keys:revoke', { organizationId })
  const action = {
    action: 'management-keys:revoke',
    organizationId: organizationId ?? installationChain,
    target: id,
  }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    const query = transaction
      .selectFrom('management_keys')
      .select(['id', 'role'])
      .where('id', '=', id as ManagementKeyId)
    const scoped =
      organizationId === null
        ? query.where('organization_id', 'is', null)
        : query.where('organization_id', '=', organizationId)
    const row = await scoped.where('revoked_at', 'is', null).executeTakeFirst()
    if (row === undefined) throw notFound()
    requireGrant(principal, row.role)
    const revoked_at = parts.clock.nowMs()
    const update = transaction.updateTable('management_keys').set({ revoked_at }).where('id', '=', row.id)
    await (
      organizationId === null
        ? update.where('organization_id', 'is', null)
        : update.where('organization_id', '=', organizationId)
    ).execute()
    note(null, { revoked_at })
  })
}

function summarize(row: ManagementKeyTable): ManagementKeySummary {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    role: row.role,
    lastFour: row.last_four,
    createdAtMs: row.created_at,
    expiresAtMs: row.expires_at,
    revokedAtMs: row.revoked_at,
    isSuspended: row.suspended_by !== null,
  }
}
