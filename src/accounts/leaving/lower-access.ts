import type { Transaction } from 'kysely'
import type { InvitationId, ManagementKeyId } from '../../core/ids.ts'
import { covers } from '../../core/permission.ts'
import type { CustomRole } from '../../core/principal.ts'
import { mayGrant, type Role } from '../../core/role.ts'
import type { Fields } from '../../db/change.ts'
import type { MemberTable } from '../../db/tables/accounts.ts'
import type { Tables } from '../../db/tables.ts'
import { findMadeThings } from './made-keys.ts'

type Lowered = {
  readonly role: Role
  /** What is left of the role; absent where it is whole. */
  readonly custom?: CustomRole | undefined
  readonly nowMs: number
}
type Lowering = Pick<MemberTable, 'id' | 'organization_id'>

/**
 * Takes from what a member made in a role what the new one could not have given, in the transaction that gives them that:
 * they know the secrets of it.
 *
 * A management key goes down to the new role where that may be given at all, and is revoked where it may not; an open
 * invitation to more is withdrawn. A role that is given back later brings none of it back. What they made as a person of
 * the installation came from another role, which stays. Returns what the audit shows.
 */
export async function lowerAccess(
  transaction: Transaction<Tables>,
  member: Lowering,
  lowered: Lowered,
): Promise<Fields> {
  const { managementKeys, invitations } = await findMadeThings(transaction, { ...member, user_id: null })
  const found = { managementKeys: managementKeys.map(({ id }) => id), invitations }
  return {
    ...(found.managementKeys.length > 0 &&
      (await lowerKeys(transaction, found.managementKeys, { ...lowered, member }))),
    ...(invitations.length > 0 && (await withdraw(transaction, found.invitations, { ...lowered, member }))),
  }
}

type Parts = Lowered & { readonly member: Lowering }

/** Whether a role, or the part that is left of it, may give another. */
function gives({ role, custom, member }: Parts, given: Role): boolean {
  if (custom === undefined) return mayGrant(role, given)
  const { id: memberId, organization_id: organizationId } = member
  return covers({ kind: 'member', memberId, organizationId, role, projectIds: [], custom }, given)
}

async function lowerKeys(
  transaction: Transaction<Tables>,
  ids: readonly ManagementKeyId[],
  lowered: Parts,
): Promise<Fields> {
  const { role, nowMs, member } = lowered
  const rows = await transaction
    .selectFrom('management_keys')
    .select(['id', 'role'])
    .where('organization_id', '=', member.organization_id)
    .where('id', 'in', ids)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const tooMuch = rows.filter((key) => !gives(lowered, key.role)).map(({ id }) => id)
  if (tooMuch.length === 0) return {}
  const isLowered = gives(lowered, role)
  await transaction
    .updateTable('management_keys')
    .set(isLowered ? { role } : { revoked_at: nowMs })
    .where('organization_id', '=', member.organization_id)
    .where('id', 'in', tooMuch)
    .execute()
  return { [isLowered ? 'management_keys_lowered' : 'management_keys_revoked']: tooMuch }
}

async function withdraw(
  transaction: Transaction<Tables>,
  ids: readonly InvitationId[],
  lowered: Parts,
): Promise<Fields> {
  const { nowMs, member } = lowered
  const rows = await transaction
    .selectFrom('invitations')
    .select(['id', 'role'])
    .where('organization_id', '=', member.organization_id)
    .where('id', 'in', ids)
    .execute()
  const tooMuch = rows.filter((invitation) => !gives(lowered, invitation.role)).map(({ id }) => id)
  if (tooMuch.length === 0) return {}
  await transaction
    .updateTable('invitations')
    .set({ withdrawn_at: nowMs })
    .where('organization_id', '=', member.organization_id)
    .where('id', 'in', tooMuch)
    .execute()
  return { invitations_withdrawn: tooMuch }
}
