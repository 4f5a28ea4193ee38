import type { Transaction } from 'kysely'
import { conflict } from '../../core/error.ts'
import type { InvitationId, OrganizationId, ProjectId } from '../../core/ids.ts'
import { notFound, requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { Role } from '../../core/role.ts'
import { actorOf, change } from '../../db/change.ts'
import type { InvitationTable } from '../../db/tables/identity.ts'
import type { Tables } from '../../db/tables.ts'
import { randomId } from '../../lib/random-id.ts'
import { lockOrganization } from '../access/lock-organization.ts'
import { checkEmail } from '../check-email.ts'
import { requireGrant } from '../members.ts'
import { readPage, type Page, type PageRequest } from '../page.ts'
import { requireProjects } from '../projects.ts'
import { createToken, hashToken } from './one-time.ts'
import type { SignInParts } from './parts.ts'

export type Invitation = {
  readonly id: InvitationId
  readonly email: string
  readonly role: Role
  readonly projectIds: readonly ProjectId[]
  /** Who invited, as the audit names them. */
  readonly invitedBy: string
  readonly createdAtMs: number
  readonly endsAtMs: number
  readonly acceptedAtMs: number | null
  readonly withdrawnAtMs: number | null
}

export type NewInvitation = {
  readonly organizationId: OrganizationId
  readonly email: string
  readonly role: Role
  readonly projectIds: readonly ProjectId[]
}

export type InvitationReference = { readonly organizationId: OrganizationId; readonly id: string }
/** The token of its link can be read nowhere else. */
export type SentInvitation = { readonly id: InvitationId; readonly token: string }

const lastsMs = 7 * 86_400_000

/**
 * Invites somebody by an address. An open invitation of the same address is taken back by it, which nobody does of one that
 * they could not have made.
 */
export async function createInvitation(
  parts: SignInParts,
  principal: Principal,
  { organizationId, email: address, role: wanted, projectIds }: NewInvitation,
): Promise<SentInvitation> {
  requirePermission(principal, 'members:create', { organizationId })
  requireGrant(principal, wanted)
  const id: InvitationId = `inv_${randomId()}`
  const token = createToken()
  const now = parts.clock.nowMs()
  const email = checkEmail(address)
  const action = { action: 'invitations:create', organizationId, target: id }
  await change(parts, principal, action, async (transaction, note) => {
    await lockOrganization(transaction, organizationId)
    await requireProjects(transaction, organizationId, projectIds)
    const role = await findRole(transaction, principal, { organizationId, email, role: wanted })
    const before = await transaction
      .updateTable('invitations')
      .set({ withdrawn_at: now })
      .where('organization_id', '=', organizationId)
      .where('email', '=', email)
      .where('accepted_at', 'is', null)
      .where('withdrawn_at', 'is', null)
      .returning(['role', 'ends_at'])
      .execute()
    for (const open of before.filter(({ ends_at }) => ends_at > now)) requireGrant(principal, open.role)
    const times = { created_at: now, ends_at: now + lastsMs, accepted_at: null, withdrawn_at: null, mailed_at: null }
    const invited = { email, role, project_ids: JSON.stringify(projectIds) }
    const hidden = { link_hash: hashToken(token), created_by: actorOf(principal) }
    await transaction
      .insertInto('invitations')
      .values({ id, organization_id: organizationId, ...invited, ...hidden, ...times })
      .execute()
    note(null, { email, role, project_ids: projectIds })
  })
  return { id, token }
}

type Invited = Pick<NewInvitation, 'organizationId' | 'email' | 'role'>

/**
 * The role that an invitation is to. Whoever was made by a key and has never signed in may be invited: accepting makes
 * them that member, with the member's role, which has to be the inviter's to give. To be an owner is invited for in words.
 */
async function findRole(
  transaction: Transaction<Tables>,
  principal: Principal,
  { organizationId, email, role }: Invited,
): Promise<Role> {
  const member = await findMemberByEmail(transaction, { organizationId, email })
  if (member === undefined) return role
  if (member.user_id !== null) throw conflict('There is a member with this e-mail already.')
  requireGrant(principal, member.role)
  if (member.role === 'owner' && role !== 'owner') {
    throw conflict('This is the address of an owner: invite them as one.')
  }
  return member.role
}

/** The member of an organization with this address. */
export function findMemberByEmail(
  transaction: Transaction<Tables>,
  { organizationId, email }: { readonly organizationId: OrganizationId; readonly email: string },
) {
  return transaction
    .selectFrom('members')
    .select(['id', 'user_id', 'role'])
    .where('organization_id', '=', organizationId)
    .where('email', '=', email)
    .where('removed_at', 'is', null)
    .executeTakeFirst()
}

export async function listInvitations(
  { db }: SignInParts,
  principal: Principal,
  request: PageRequest & { readonly organizationId: OrganizationId },
): Promise<Page<Invitation>> {
  const { organizationId } = request
  requirePermission(principal, 'members:read', { organizationId })
  const query = db.selectFrom('invitations').selectAll().where('organization_id', '=', organizationId)
  return readPage(query, request, toInvitation)
}

export async function findInvitation(
  { db }: SignInParts,
  principal: Principal,
  reference: InvitationReference,
): Promise<Invitation> {
  requirePermission(principal, 'members:read', reference)
  return toInvitation(await readRow(db, reference))
}

/** Makes a new link for an invitation and lets it last anew; the link before opens nothing any more. */
export async function resendInvitation(
  parts: SignInParts,
  principal: Principal,
  reference: InvitationReference,
): Promise<SentInvitation> {
  requirePermission(principal, 'members:create', reference)
  const token = createToken()
  const action = { action: 'invitations:resend', organizationId: reference.organizationId, target: reference.id }
  const id = await change(parts, principal, action, async (transaction, note) => {
    const row = await readOpen(transaction, reference)
    requireGrant(principal, row.role)
    const { organizationId } = reference
    const role = await findRole(transaction, principal, { organizationId, email: row.email, role: row.role })
    const ends_at = parts.clock.nowMs() + lastsMs
    await transaction
      .updateTable('invitations')
      // Whoever sends it anew has seen the new link.
      .set({ link_hash: hashToken(token), ends_at, created_by: actorOf(principal), role })
      .where('id', '=', row.id)
      .where('organization_id', '=', organizationId)
      .execute()
    note({ ends_at: row.ends_at, role: row.role }, { ends_at, role })
    return row.id
  })
  return { id, token }
}

export async function withdrawInvitation(
  parts: SignInParts,
  principal: Principal,
  reference: InvitationReference,
): Promise<void> {
  requirePermission(principal, 'members:create', reference)
  const action = { action: 'invitations:withdraw', organizationId: reference.organizationId, target: reference.id }
  await change(parts, principal, action, async (transaction, note) => {
    const row = await readOpen(transaction, reference)
    requireGrant(principal, row.role)
    const withdrawn_at = parts.clock.nowMs()
    await transaction
      .updateTable('invitations')
      .set({ withdrawn_at })
      .where('id', '=', row.id)
      .where('organization_id', '=', reference.organizationId)
      .execute()
    note(null, { withdrawn_at })
  })
}

async function readRow(db: Pick<Transaction<Tables>, 'selectFrom'>, { organizationId, id }: InvitationReference) {
  const row = await db
    .selectFrom('invitations')
    .selectAll()
    .where('id', '=', id as InvitationId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  return row
}

/** An invitation that may yet be accepted or sent anew. */
export async function readOpen(
  transaction: Transaction<Tables>,
  reference: InvitationReference,
): Promise<InvitationTable> {
  const row = await readRow(transaction, reference)
  if (row.accepted_at === null && row.withdrawn_at === null) return row
  throw conflict('This invitation was accepted or withdrawn.')
}

function toInvitation(row: InvitationTable): Invitation {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    projectIds: JSON.parse(row.project_ids) as ProjectId[],
    invitedBy: row.created_by,
    createdAtMs: row.created_at,
    endsAtMs: row.ends_at,
    acceptedAtMs: row.accepted_at,
    withdrawnAtMs: row.withdrawn_at,
  }
}
