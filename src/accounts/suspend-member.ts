import type { ApiKeyId, ManagementKeyId } from '../core/ids.ts'
import { requirePermission } from '../core/permission.ts'
import type { Principal } from '../core/principal.ts'
import { changeAccess } from './change-access.ts'
import { findMember, lockOrganization, requireAnotherOwner, requireGrant, type MemberReference } from './members.ts'
import type { AccountsParts } from './parts.ts'
import { readMember } from './read-member.ts'

/**
 * Lets a member in nowhere, or in again. The keys they own are refused meanwhile: those that were in use come back with
 * them, and no other that somebody has disabled for a reason of its own.
 */
export async function setMemberSuspended(
  parts: AccountsParts,
  principal: Principal,
  reference: MemberReference,
  isSuspended: boolean,
): Promise<void> {
  const { organizationId, id } = reference
  requirePermission(principal, 'members:update', { organizationId })
  const action = { action: isSuspended ? 'members:suspend' : 'members:restore', organizationId, target: id }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    await lockOrganization(transaction, organizationId)
    const member = await findMember(transaction, reference)
    requireGrant(principal, member.role)
    if (isSuspended) await requireAnotherOwner(transaction, member)
    const now = parts.clock.nowMs()
    const suspended_at = isSuspended ? (member.suspended_at ?? now) : null
    await transaction
      .updateTable('members')
      .set({ suspended_at, suspended_by: isSuspended ? 'manual' : null })
      .where('id', '=', member.id)
      .where('organization_id', '=', organizationId)
      .execute()
    const own = transaction
      .updateTable('api_keys')
      .set(isSuspended ? { disabled_at: now, suspended_by: member.id } : { disabled_at: null, suspended_by: null })
      .where('organization_id', '=', organizationId)
      .where('owner_id', '=', member.id)
    const chosen = isSuspended
      ? own.where('disabled_at', 'is', null).where('revoked_at', 'is', null)
      : own.where('suspended_by', '=', member.id)
    const keys = await chosen.returning('id').execute()
    note({ suspended_at: member.suspended_at }, { suspended_at, keys: keys.map((key) => key.id) })
  })
}

export type Consequences = {
  readonly keysOwned: { readonly id: ApiKeyId; readonly name: string }[]
  readonly keysMadeForOthers: { readonly id: ApiKeyId; readonly name: string }[]
  readonly managementKeysMade: { readonly id: ManagementKeyId; readonly name: string }[]
  readonly sessions: number
}

/** What hangs on a member: what ends with them, and what they leave behind. */
export async function readConsequences(
  parts: AccountsParts,
  principal: Principal,
  reference: MemberReference,
): Promise<Consequences> {
  const { id } = await readMember(parts, principal, reference)
  const { db, clock } = parts
  const keys = await db
    .selectFrom('api_keys')
    .select(['id', 'name', 'owner_id'])
    .where('organization_id', '=', reference.organizationId)
    .where(({ or, eb }) => or([eb('owner_id', '=', id), eb('created_by', '=', id)]))
    .where('revoked_at', 'is', null)
    .orderBy('created_at')
    .execute()
  const managementKeys = await db
    .selectFrom('management_keys')
    .select(['id', 'name'])
    .where('organization_id', '=', reference.organizationId)
    .where('created_by', '=', id)
    .where('revoked_at', 'is', null)
    .orderBy('created_at')
    .execute()
  const sessions = await db
    .selectFrom('sessions')
    .innerJoin('members', 'members.user_id', 'sessions.user_id')
    .select('sessions.id')
    .where('members.id', '=', id)
    .where('sessions.ends_at', '>', clock.nowMs())
    .execute()
  const show = ({ id: key, name }: { readonly id: ApiKeyId; readonly name: string }) => ({ id: key, name })
  return {
    keysOwned: keys.filter(({ owner_id }) => owner_id === id).map(show),
    keysMadeForOthers: keys.filter(({ owner_id }) => owner_id !== id).map(show),
    managementKeysMade: managementKeys.map(({ id: key, name }) => ({ id: key, name })),
    sessions: sessions.length,
  }
}
