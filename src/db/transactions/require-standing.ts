// Who asks for a change was let in before its transaction began. What they may do can have been taken from them since, by
// somebody whose transaction this one has waited for: so it is asked once more, where nobody can take it any more.

import type { Transaction } from 'kysely'
import { ApiError } from '../../core/error.ts'
import { isShownProjects } from '../../core/permission.ts'
import type { ManagementKeyPrincipal, MemberPrincipal, Principal, UserPrincipal } from '../../core/principal.ts'
import { isPostgres } from '../is-postgres.ts'
import type { Tables } from '../tables.ts'

/** Who was found standing in a transaction: what it does itself to who asks for it comes after. */
const standing = new WeakMap<Transaction<Tables>, Set<Principal>>()

/**
 * Throws for somebody who was suspended, removed or given another role since their request was let in.
 *
 * A member's role is changed by whoever holds the end of the organization's chain, so it is asked by who holds it too. The
 * roles of people of the installation and of management keys are no one organization's: their rows are held, for all who
 * only ask of them, until the transaction is over. Whoever takes such a role does so before they count the change.
 */
export async function requireStanding(transaction: Transaction<Tables>, principal: Principal): Promise<void> {
  const known = standing.get(transaction) ?? new Set()
  if (known.has(principal)) return
  if (!(await stands(transaction, principal))) {
    throw new ApiError({ code: 'unauthenticated', key: null }, 'Your access has ended, or is another one now.')
  }
  standing.set(transaction, known.add(principal))
}

function stands(transaction: Transaction<Tables>, principal: Principal): Promise<boolean> | true {
  switch (principal.kind) {
    case 'member':
      return memberStands(transaction, principal)
    case 'management-key':
      return keyStands(transaction, principal)
    case 'user':
      // Without a role a person does nothing but to their own account.
      return principal.role === null || userStands(transaction, principal)
    default:
      return true
  }
}

async function memberStands(transaction: Transaction<Tables>, principal: MemberPrincipal): Promise<boolean> {
  const { memberId, organizationId, role, custom, projectIds } = principal
  const row = await transaction
    .selectFrom('members')
    .innerJoin('organizations', 'organizations.id', 'members.organization_id')
    .leftJoin('roles', 'roles.id', 'members.role_id')
    .select(['roles.id as role_id', 'roles.permissions'])
    .where('members.id', '=', memberId)
    .where('members.organization_id', '=', organizationId)
    .where('members.role', '=', role)
    .where('removed_at', 'is', null)
    .where('suspended_at', 'is', null)
    .where('organizations.disabled_at', 'is', null)
    .$if(isShownProjects(role) && projectIds.length > 0, (query) =>
      query.where(
        ({ selectFrom, fn }) =>
          selectFrom('project_members')
            .whereRef('project_members.member_id', '=', 'members.id')
            .where('project_members.project_id', 'in', projectIds)
            .select(fn.countAll().as('count')),
        '=',
        projectIds.length,
      ),
    )
    .executeTakeFirst()
  if (row === undefined) return false
  return (
    row.role_id === (custom?.id ?? null) && row.permissions === (custom ? JSON.stringify(custom.permissions) : null)
  )
}

async function keyStands(transaction: Transaction<Tables>, principal: ManagementKeyPrincipal): Promise<boolean> {
  const { managementKeyId, organizationId, role } = principal
  const query = transaction
    .selectFrom('management_keys')
    .select('id')
    .where('id', '=', managementKeyId)
    .where('role', '=', role)
    .where('revoked_at', 'is', null)
    .where('suspended_by', 'is', null)
  const scoped =
    organizationId === null
      ? query.where('organization_id', 'is', null)
      : query
          .where('organization_id', '=', organizationId)
          .where(({ exists, selectFrom }) =>
            exists(
              selectFrom('organizations')
                .select('organizations.id')
                .where('organizations.id', '=', organizationId)
                .where('disabled_at', 'is', null),
            ),
          )
  const row = await heldByAll(transaction, scoped).executeTakeFirst()
  return row !== undefined
}

async function userStands(transaction: Transaction<Tables>, { userId, role }: UserPrincipal): Promise<boolean> {
  const query = transaction
    .selectFrom('users')
    .select('id')
    .where('id', '=', userId)
    .where('installation_role', '=', role)
    .where('disabled_at', 'is', null)
  const row = await heldByAll(transaction, query).executeTakeFirst()
  return row !== undefined
}

/** Nobody changes the row until all who read it so are done. SQLite has one writer, whom nobody overtakes. */
function heldByAll<Query extends { forShare(): Query }>(transaction: Transaction<Tables>, query: Query): Query {
  return isPostgres(transaction) ? query.forShare() : query
}
