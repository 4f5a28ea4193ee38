import type { Transaction } from 'kysely'
import { ApiError } from '../../core/error.ts'
import type { OrganizationId } from '../../core/ids.ts'
import type { Principal } from '../../core/principal.ts'
import type { Tables } from '../../db/tables.ts'
import { customOf } from '../access/custom-of.ts'
import { lockOrganization } from '../access/lock-organization.ts'

/**
 * Throws for somebody who was suspended, removed or given another role since their request was let in.
 *
 * Asked in the transaction of everything that hands out a secret, or says who may do what. The organization is locked as
 * it is while access is cut or lowered, so that a key is either made before, and found then, or not at all.
 */
export async function requireStanding(
  transaction: Transaction<Tables>,
  principal: Principal,
  organizationId: OrganizationId,
): Promise<void> {
  await lockOrganization(transaction, organizationId)
  if (await stands(transaction, principal)) return
  throw new ApiError({ code: 'unauthenticated', key: null }, 'Your access has ended, or is another one now.')
}

async function stands(transaction: Transaction<Tables>, principal: Principal): Promise<boolean> {
  if (principal.kind === 'member') {
    const row = await transaction
      .selectFrom('members')
      .leftJoin('roles', 'roles.id', 'members.role_id')
      .select(['roles.id as role_id', 'roles.permissions'])
      .where('members.id', '=', principal.memberId)
      .where('members.organization_id', '=', principal.organizationId)
      .where('members.role', '=', principal.role)
      .where('removed_at', 'is', null)
      .where('suspended_at', 'is', null)
      .executeTakeFirst()
    return row !== undefined && JSON.stringify(customOf(row).custom) === JSON.stringify(principal.custom)
  }
  if (principal.kind === 'management-key' && principal.organizationId !== null) {
    const row = await transaction
      .selectFrom('management_keys')
      .select('id')
      .where('id', '=', principal.managementKeyId)
      .where('organization_id', '=', principal.organizationId)
      .where('role', '=', principal.role)
      .where('revoked_at', 'is', null)
      .where('suspended_by', 'is', null)
      .executeTakeFirst()
    return row !== undefined
  }
  return true
}
