import type { Selectable, Transaction } from 'kysely'
import { ApiError, conflict } from '../core/error.ts'
import type { MemberId, OrganizationId, RoleId } from '../core/ids.ts'
import { covers, notFound, requirePermission } from '../core/permission.ts'
import type { CustomRole, MemberPrincipal, Principal } from '../core/principal.ts'
import { mayGrant, roles, type Role } from '../core/role.ts'
import type { NoteFields } from '../db/change.ts'
import type { MemberTable } from '../db/tables/accounts.ts'
import type { Tables } from '../db/tables.ts'
import { randomId } from '../lib/random-id.ts'
import { customOf } from './access/custom-of.ts'
import { lockOrganization } from './access/lock-organization.ts'
import { changeAccess } from './change-access.ts'
import { checkEmail } from './check-email.ts'
import { checkName } from './check-name.ts'
import { cutAccess } from './leaving/cut-access.ts'
import { lowerAccess } from './leaving/lower-access.ts'
import { readPage, type Page, type PageRequest } from './page.ts'
import type { AccountsParts } from './parts.ts'

export type Member = {
  readonly id: MemberId
  readonly email: string
  readonly name: string
  readonly role: Role
  /** The organization's own role that leaves a part of it; null where it is whole. */
  readonly roleId: RoleId | null
  readonly createdAtMs: number
  readonly removedAtMs: number | null
  readonly suspendedAtMs: number | null
  /** Whether somebody signs in as this member. */
  readonly hasUser: boolean
}

export type MemberReference = { readonly id: string; readonly organizationId: OrganizationId }

export type NewMember = {
  readonly organizationId: OrganizationId
  readonly email: string
  readonly name: string
  readonly role: Role
}

const notYet = { removed_at: null, user_id: null, suspended_at: null, suspended_by: null, source: 'manual' } as const

export async function createMember(
  parts: AccountsParts,
  principal: Principal,
  { organizationId, email, name, role }: NewMember,
): Promise<MemberId> {
  requirePermission(principal, 'members:create', { organizationId })
  requireGrant(principal, role)
  const id: MemberId = `mem_${randomId()}`
  const person = { email: checkEmail(email), name: checkName(name), role }
  const action = { action: 'members:create', organizationId, target: id }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    await lockOrganization(transaction, organizationId)
    const existing = await transaction
      .selectFrom('members')
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('email', '=', person.email)
      .where('removed_at', 'is', null)
      .executeTakeFirst()
    if (existing !== undefined) throw conflict('There is a member with this e-mail already.')
    await transaction
      .insertInto('members')
      .values({ id, organization_id: organizationId, ...person, created_at: parts.clock.nowMs(), ...notYet })
      .execute()
    note(null, person)
  })
  return id
}

export async function listMembers(
  { db }: AccountsParts,
  principal: Principal,
  request: PageRequest & { readonly organizationId: OrganizationId },
): Promise<Page<Member>> {
  requirePermission(principal, 'members:read', { organizationId: request.organizationId })
  const query = db.selectFrom('members').selectAll().where('organization_id', '=', request.organizationId)
  return readPage(query, request, toMember)
}

export function toMember({ id, email, name, role, ...row }: Selectable<MemberTable>): Member {
  const times = { createdAtMs: row.created_at, removedAtMs: row.removed_at, suspendedAtMs: row.suspended_at }
  return { id, email, name, role, roleId: row.role_id, ...times, hasUser: row.user_id !== null }
}

/**
 * Changes a member's role, and with it what they made by the role before. The last owner stays one, and nobody touches a
 * role above their own.
 */
export async function setMemberRole(
  parts: AccountsParts,
  principal: Principal,
  reference: MemberReference,
  given: Role | RoleId,
): Promise<void> {
  const { organizationId, id } = reference
  requirePermission(principal, 'members:update', { organizationId })
  const action = { action: 'members:update', organizationId, target: id }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    const member = await findMember(transaction, reference)
    const { role, custom } = await findRole(transaction, organizationId, given)
    requireGrant(principal, role, custom)
    requireGrant(principal, member.role)
    if (role !== 'owner') await requireOwnerStays(transaction, member)
    await transaction
      .updateTable('members')
      .set({ role, role_id: custom?.id ?? null })
      .where('id', '=', member.id)
      .where('organization_id', '=', organizationId)
      .execute()
    const lowered = await lowerAccess(transaction, member, { role, custom, nowMs: parts.clock.nowMs() })
    note({ role: member.role, role_id: member.role_id }, { role, role_id: custom?.id ?? null, ...lowered })
  })
}

/** Ends a membership, and with it sessions, every key that the member owns, and the management keys they made. */
export async function removeMember(
  parts: AccountsParts,
  principal: Principal,
  reference: MemberReference,
): Promise<void> {
  const { organizationId, id } = reference
  requirePermission(principal, 'members:remove', { organizationId })
  const action = { action: 'members:remove', organizationId, target: id }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    const member = await findMember(transaction, reference)
    requireGrant(principal, member.role)
    await requireOwnerStays(transaction, member)
    await endMembership(transaction, member, { nowMs: parts.clock.nowMs(), note })
  })
}

type Ending = { readonly nowMs: number; readonly note: NoteFields }

/** Ends a membership in the transaction that notes it. */
export async function endMembership(
  transaction: Transaction<Tables>,
  member: Selectable<MemberTable>,
  { nowMs, note }: Ending,
): Promise<void> {
  await transaction
    .updateTable('members')
    .set({ removed_at: nowMs })
    .where('id', '=', member.id)
    .where('organization_id', '=', member.organization_id)
    .execute()
  const ended = await cutAccess(transaction, member, { nowMs, isFinal: true })
  note({ email: member.email, role: member.role }, { removed_at: nowMs, ...ended })
}

/** Somebody who is signed in, as they are at this moment; null for who is a member no longer. */
export async function findMemberPrincipal({ db }: AccountsParts, id: MemberId): Promise<MemberPrincipal | null> {
  const member = await db
    .selectFrom('members')
    .innerJoin('organizations', 'organizations.id', 'members.organization_id')
    .leftJoin('roles', 'roles.id', 'members.role_id')
    .select(['members.organization_id', 'members.role', 'roles.id as role_id', 'roles.permissions'])
    .where('members.id', '=', id)
    .where('members.removed_at', 'is', null)
    .where('members.suspended_at', 'is', null)
    .where('organizations.disabled_at', 'is', null)
    .executeTakeFirst()
  if (member === undefined) return null
  const projects = await db
    .selectFrom('project_members')
    .select('project_id')
    .where('member_id', '=', id)
    .where('organization_id', '=', member.organization_id)
    .execute()
  return {
    kind: 'member',
    memberId: id,
    organizationId: member.organization_id,
    role: member.role,
    projectIds: projects.map(({ project_id }) => project_id),
    ...customOf(member),
  }
}

type FoundRole = { readonly role: Role; readonly custom: CustomRole | undefined }

async function findRole(
  transaction: Transaction<Tables>,
  organizationId: OrganizationId,
  given: Role | RoleId,
): Promise<FoundRole> {
  const builtIn = roles.find((role) => role === given)
  if (builtIn !== undefined) return { role: builtIn, custom: undefined }
  const row = await transaction
    .selectFrom('roles')
    .selectAll()
    .where('id', '=', given as RoleId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  return { role: row.base, custom: customOf({ ...row, role_id: row.id }).custom }
}

/** Whether somebody may give a role: none above their own, and who has a part of one no more than that part. */
export function mayGive(principal: Principal, role: Role, custom?: CustomRole): boolean {
  if (principal.kind === 'operator') return true
  if (principal.kind === 'member' && principal.custom !== undefined) return covers(principal, role, custom)
  return principal.kind !== 'api-key' && principal.role !== null && mayGrant(principal.role, role)
}

/** Nobody gives or takes a role that they may not give. */
export function requireGrant(principal: Principal, role: Role, custom?: CustomRole): void {
  if (mayGive(principal, role, custom)) return
  throw new ApiError({ code: 'permission-denied' }, `This needs a role from which ${role} may be given.`)
}

export async function findMember(
  transaction: Transaction<Tables>,
  { id, organizationId }: MemberReference,
): Promise<Selectable<MemberTable>> {
  const row = await transaction
    .selectFrom('members')
    .selectAll()
    .where('id', '=', id as MemberId)
    .where('organization_id', '=', organizationId)
    .where('removed_at', 'is', null)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  return row
}

/**
 * Asked before an owner goes or becomes less. The last one stays; and while members come in by one connection alone so does
 * the one who comes in without it, since nobody else would when it fails.
 */
export async function requireOwnerStays(
  transaction: Transaction<Tables>,
  member: Selectable<MemberTable>,
): Promise<void> {
  if (member.role !== 'owner') return
  const glass = await transaction
    .selectFrom('connections')
    .select('id')
    .where('organization_id', '=', member.organization_id)
    .where('break_glass_id', '=', member.id)
    .executeTakeFirst()
  if (glass !== undefined) {
    throw conflict('This owner comes in where the provider fails: name another one for that first, or relax that.')
  }
  const other = await transaction
    .selectFrom('members')
    .select('id')
    .where('organization_id', '=', member.organization_id)
    .where('role', '=', 'owner')
    .where('removed_at', 'is', null)
    .where('suspended_at', 'is', null)
    .where('id', '!=', member.id)
    .executeTakeFirst()
  if (other === undefined) throw conflict('An organization keeps at least one owner.')
}
