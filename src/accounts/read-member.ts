import type { Transaction } from 'kysely'
import { conflict } from '../core/error.ts'
import type { MemberId, OrganizationId, ProjectId } from '../core/ids.ts'
import { notFound, requirePermission } from '../core/permission.ts'
import type { Principal } from '../core/principal.ts'
import type { Tables } from '../db/tables.ts'
import { toMember, type Member, type MemberReference } from './members.ts'
import type { AccountsParts } from './parts.ts'

/** Reads a member, also one who was removed. Throws where the principal may not see them. */
export async function readMember(
  { db }: AccountsParts,
  principal: Principal,
  { id, organizationId }: MemberReference,
): Promise<Member> {
  requirePermission(principal, 'members:read', { organizationId })
  const row = await db
    .selectFrom('members')
    .selectAll()
    .where('id', '=', id as MemberId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  return toMember(row)
}

/** Throws for one who is not there, was removed, or is another organization's. */
export async function requireMember(
  transaction: Transaction<Tables>,
  { organizationId, memberId }: { readonly organizationId: OrganizationId; readonly memberId: MemberId },
): Promise<void> {
  const member = await transaction
    .selectFrom('members')
    .select('id')
    .where('id', '=', memberId)
    .where('organization_id', '=', organizationId)
    .where('removed_at', 'is', null)
    .executeTakeFirst()
  if (member === undefined) throw notFound()
}

/** As `requireMember`, and throws too for one who is suspended: no key of theirs comes into use meanwhile. */
export async function requireActiveMember(
  transaction: Transaction<Tables>,
  { organizationId, memberId }: { readonly organizationId: OrganizationId; readonly memberId: MemberId },
): Promise<void> {
  await requireMember(transaction, { organizationId, memberId })
  const suspended = await transaction
    .selectFrom('members')
    .select('id')
    .where('id', '=', memberId)
    .where('organization_id', '=', organizationId)
    .where('suspended_at', 'is not', null)
    .executeTakeFirst()
  if (suspended === undefined) return
  throw conflict('The member whose key it is is suspended: restore them first.')
}

export type ProjectsOfMembers = {
  readonly organizationId: OrganizationId
  readonly memberIds: readonly MemberId[]
}

/** The projects that were opened to each of these members. */
export async function readMemberProjects(
  { db }: AccountsParts,
  principal: Principal,
  { organizationId, memberIds }: ProjectsOfMembers,
): Promise<ReadonlyMap<MemberId, readonly ProjectId[]>> {
  requirePermission(principal, 'members:read', { organizationId })
  if (memberIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('project_members')
    .select(['member_id', 'project_id'])
    .where('organization_id', '=', organizationId)
    .where('member_id', 'in', memberIds)
    .orderBy('project_id')
    .execute()
  const byMember = Map.groupBy(rows, (row) => row.member_id)
  return new Map([...byMember].map(([id, own]) => [id, own.map(({ project_id }) => project_id)]))
}

/** How many owners an organization has, two at most: with one alone, a lost device leaves nobody who could let them in. */
export async function countOwners({ db }: Pick<AccountsParts, 'db'>, organizationId: OrganizationId): Promise<number> {
  const owners = await db
    .selectFrom('members')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('role', '=', 'owner')
    .where('removed_at', 'is', null)
    .where('suspended_at', 'is', null)
    .limit(2)
    .execute()
  return owners.length
}
