// In which organizations a session counts. A person who has shown here who they are is in all of theirs, but for those
// that have to be entered by a connection of their own. Whoever is vouched for by a connection is in its organization
// alone: its administrators decide whom their provider means, and must not reach another organization by it.

import type { ConnectionId, MemberId, OrganizationId, UserId } from '../../core/ids.ts'
import { isShownProjects } from '../../core/permission.ts'
import type { MemberPrincipal } from '../../core/principal.ts'
import type { Role } from '../../core/role.ts'
import type { SessionTable, SignInMethod } from '../../db/tables/identity.ts'
import { changeAccess } from '../change-access.ts'
import { customOf } from '../access/custom-of.ts'
import { mayVouch } from '../single-sign-on/answerers.ts'
import type { SignInParts } from './parts.ts'

/** A person in an organization. */
export type Membership = {
  readonly organizationId: OrganizationId
  readonly organizationName: string
  readonly principal: MemberPrincipal
}

/** A membership that counts once the person has signed in by the organization's connection. */
export type ClosedMembership = {
  readonly organizationId: OrganizationId
  readonly organizationName: string
  readonly memberId: MemberId
  readonly role: Role
  readonly connectionId: ConnectionId
}

/** Where a session may count at all. */
type MembershipScope = 'everywhere' | { readonly organizationId: OrganizationId }

/** By whose word somebody is signed in. */
type Vouched = Pick<SessionTable, 'user_id' | 'connection_id' | 'sso_subject'>

/**
 * Null for a session of a connection that was switched off or is gone, and of one whose word counts no more for somebody
 * who may do more by now than whoever answers for it.
 */
export async function readPlace(
  { db }: Pick<SignInParts, 'db'>,
  { user_id: userId, connection_id: connectionId, sso_subject: subject }: Vouched,
): Promise<MembershipScope | null> {
  if (connectionId === null) return 'everywhere'
  const row = await db
    .selectFrom('connections')
    .leftJoin('identities', (join) =>
      join
        .onRef('identities.connection_id', '=', 'connections.id')
        .on('identities.subject', '=', subject)
        .on('identities.user_id', '=', userId),
    )
    .leftJoin('members', (join) =>
      join
        .onRef('members.organization_id', '=', 'connections.organization_id')
        .on('members.user_id', '=', userId)
        .on('members.removed_at', 'is', null),
    )
    .leftJoin('roles', 'roles.id', 'members.role_id')
    .select(['connections.organization_id', 'connections.answerer_role', 'connections.answerer_custom'])
    .select(['identities.is_linked', 'members.role', 'roles.id as role_id', 'roles.permissions'])
    .where('connections.id', '=', connectionId)
    .where('connections.state', '=', 'on')
    .executeTakeFirst()
  if (row === undefined) return null
  const { role, is_linked, organization_id: organizationId } = row
  if (role === null || is_linked === 1 || mayVouch(row, { role, ...customOf(row) })) return { organizationId }
  return null
}

type Memberships = { readonly memberships: readonly Membership[]; readonly closed: readonly ClosedMembership[] }

/** Who somebody is, and how they have shown it. */
type Shown = Pick<SessionTable, 'user_id' | 'connection_id' | 'proof_method' | 'proof_at'>

export async function readMemberships(
  parts: Pick<SignInParts, 'db' | 'clock'>,
  session: Shown,
  place: MembershipScope,
): Promise<Memberships> {
  const rows = (await readRows(parts, session)).filter(({ organization_id }) => {
    return place === 'everywhere' || place.organizationId === organization_id
  })
  const isOpen = (row: Row) =>
    row.enforced_by === null ||
    row.enforced_by === session.connection_id ||
    (row.break_glass_id === row.id && isBreakGlass(session, parts.clock.nowMs()))
  const open = rows.filter(isOpen)
  const projects = await readProjects(parts, open)
  const memberships = open.map(({ id, organization_id: organizationId, role, name, ...row }) => {
    const projectIds = projects.filter((row) => row.member_id === id).map(({ project_id }) => project_id)
    const principal: MemberPrincipal = {
      kind: 'member',
      memberId: id,
      organizationId,
      role,
      projectIds,
      ...customOf(row),
    }
    return { organizationId, organizationName: name, principal }
  })
  const closed = rows.flatMap(({ id, organization_id: organizationId, name, role, enforced_by: connectionId }) => {
    const isClosed = connectionId !== null && memberships.every((open) => open.principal.memberId !== id)
    return isClosed ? [{ organizationId, organizationName: name, memberId: id, role, connectionId }] : []
  })
  return { memberships, closed }
}

/** What is as strong as a provider’s word, or stronger. */
export const breakGlassMethods: readonly SignInMethod[] = ['passkey', 'password+totp']
const breakGlassMs = 3_600_000

/** The owner who comes in without the provider has shown who they are, and not long ago. */
function isBreakGlass({ connection_id, proof_method, proof_at }: Shown, nowMs: number): boolean {
  return connection_id === null && breakGlassMethods.includes(proof_method) && proof_at > nowMs - breakGlassMs
}

type Row = Awaited<ReturnType<typeof readRows>>[number]

function readRows({ db }: Pick<SignInParts, 'db'>, { user_id }: Pick<SessionTable, 'user_id'>) {
  return db
    .selectFrom('members')
    .innerJoin('organizations', 'organizations.id', 'members.organization_id')
    .leftJoin('connections', (join) =>
      join
        .onRef('connections.organization_id', '=', 'members.organization_id')
        .on('connections.enforced_at', 'is not', null),
    )
    .leftJoin('roles', 'roles.id', 'members.role_id')
    .select(['members.id', 'members.organization_id', 'members.role', 'organizations.name'])
    .select(['roles.id as role_id', 'roles.permissions'])
    .select(['connections.id as enforced_by', 'connections.break_glass_id'])
    .where('members.user_id', '=', user_id)
    .where('members.removed_at', 'is', null)
    .where('members.suspended_at', 'is', null)
    .where('organizations.disabled_at', 'is', null)
    .orderBy('members.created_at')
    .orderBy('members.id')
    .execute()
}

/** Of those whose role is confined to projects. */
async function readProjects(
  { db }: Pick<SignInParts, 'db'>,
  members: readonly { readonly id: MemberId; readonly role: Role }[],
) {
  const confined = members.filter(({ role }) => isShownProjects(role)).map(({ id }) => id)
  if (confined.length === 0) return []
  return db
    .selectFrom('project_members')
    .select(['member_id', 'project_id'])
    .where('member_id', 'in', confined)
    .orderBy('project_id')
    .execute()
}

/** Notes that somebody enters organizations without their connection, as the owner who may. */
export async function noteBreakGlass(
  parts: SignInParts,
  { userId, method }: { readonly userId: UserId; readonly method: string },
): Promise<void> {
  const rows = await parts.db
    .selectFrom('connections')
    .innerJoin('members', 'members.id', 'connections.break_glass_id')
    .select(['connections.id', 'connections.organization_id', 'members.id as memberId'])
    .where('connections.enforced_at', 'is not', null)
    .where('members.user_id', '=', userId)
    .execute()
  for (const { id, organization_id: organizationId, memberId } of rows) {
    const principal: MemberPrincipal = { kind: 'member', memberId, organizationId, role: 'owner', projectIds: [] }
    const action = { action: 'connections:break-glass', organizationId, target: id, needsNoRight: true } as const
    await changeAccess(parts, principal, action, (_transaction, note) => Promise.resolve(note(null, { method })))
  }
}
