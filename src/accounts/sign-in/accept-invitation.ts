import { sql, type Transaction } from 'kysely'
import { conflict, invalidRequest } from '../../core/error.ts'
import type { MemberId, OrganizationId, ProjectId, UserId } from '../../core/ids.ts'
import type { Principal } from '../../core/principal.ts'
import { change, joinTransaction } from '../../db/change.ts'
import type { InvitationTable } from '../../db/tables/identity.ts'
import type { Tables } from '../../db/tables.ts'
import { randomId } from '../../lib/random-id.ts'
import { changeAccess } from '../change-access.ts'
import { lockAccess } from '../access/lock-organization.ts'
import { keepCredential, prepareCredential } from './credentials.ts'
import { findMemberByEmail } from './invitations.ts'
import { hashToken } from './one-time.ts'
import type { SignInParts } from './parts.ts'
import { refuseSignIn } from './refusals.ts'
import type { Session } from './sessions.ts'
import type { LinkUse } from './setup.ts'
import { beginInside, type SignedIn } from './sign-in.ts'
import { createUser, hasAccount, ownAction } from './users.ts'
import { requireVouched } from './vouched-addresses.ts'

/** What a link invites to. Throws for one that opens nothing. */
export async function readInvitation({ db, clock }: Pick<SignInParts, 'db' | 'clock'>, token: string) {
  const row = await db
    .selectFrom('invitations')
    .innerJoin('organizations', 'organizations.id', 'invitations.organization_id')
    .selectAll('invitations')
    .leftJoin('members', (join) =>
      join
        .onRef('members.id', '=', sql.ref('invitations.created_by'))
        .onRef('members.organization_id', '=', 'invitations.organization_id'),
    )
    .select(['organizations.name as organization_name', 'members.name as inviter_name'])
    .where('link_hash', '=', hashToken(token))
    .where('accepted_at', 'is', null)
    .where('withdrawn_at', 'is', null)
    .where('ends_at', '>', clock.nowMs())
    .where('organizations.disabled_at', 'is', null)
    .executeTakeFirst()
  if (row === undefined) throw refuseSignIn()
  return row
}

/**
 * How an invitation is accepted: by somebody new with a name and a credential, by somebody who is signed in already, or
 * with a credential by whom a provider vouches for, to whom nothing beyond its organization would else open.
 */
export type Acceptance =
  | { readonly token: string; readonly session: Session }
  | (LinkUse & { readonly name: string | undefined; readonly session: Session | null })

export type Accepted = { readonly organizationId: OrganizationId; readonly signedIn: SignedIn | null }

type Invited = Awaited<ReturnType<typeof readInvitation>>

/** Makes the person of an invitation a member. Of two who come at once with one link, one finds it used. */
export async function acceptInvitation(parts: SignInParts, acceptance: Acceptance): Promise<Accepted> {
  const invitation = await readInvitation(parts, acceptance.token)
  const organizationId = invitation.organization_id
  if (!('credential' in acceptance)) {
    await acceptAsSignedIn(parts, invitation, acceptance.session)
    return { organizationId, signedIn: null }
  }
  const { session, ...use } = acceptance
  const isVouched = session !== null && session.connectionId !== null && session.user.email === invitation.email
  const signedIn = isVouched
    ? await acceptAsVouched(parts, invitation, { ...use, session })
    : await acceptAsNew(parts, invitation, use)
  return { organizationId, signedIn }
}

async function acceptAsSignedIn(parts: SignInParts, invitation: Invited, session: Session): Promise<void> {
  const { principal, user, connectionId } = session
  if (user.email !== invitation.email) {
    throw conflict(`This invitation is for ${invitation.email}: sign in as that one.`)
  }
  if (connectionId !== null) {
    throw conflict(
      'Your provider answers for its organization alone: choose a passkey or a password here, or sign in without it first.',
    )
  }
  await parts.db.transaction().execute(async (transaction) => {
    await lockAccess(transaction, invitation.organization_id)
    if (!(await hasAccount(transaction, user.id))) throw refuseSignIn()
    await join(parts, transaction, { invitation, principal, user })
  })
}

async function acceptAsNew(
  parts: SignInParts,
  invitation: Invited,
  { credential, name, ...use }: LinkUse & { readonly name: string | undefined },
): Promise<SignedIn> {
  if (name === undefined) throw invalidRequest(['name'], 'missing', 'Whoever is new here needs a name.')
  const prepared = await prepareCredential(parts, credential)
  return parts.db.transaction().execute(async (transaction) => {
    await lockAccess(transaction, invitation.organization_id)
    const { email, organization_id: namedBy } = invitation
    const person = { name, email, installationRole: null, namedBy }
    const principal = await createUser(parts, transaction, person)
    const { userId } = principal
    const method = await keepCredential(parts, transaction, prepared, { ...use, userId })
    await join(parts, transaction, { invitation, principal, user: { id: userId, name } })
    return beginInside(parts, transaction, { begun: { userId, method }, browser: use.browser })
  })
}

/** Gives an account that a provider alone has let in a way in of its own, which opens what the invitation is to. */
async function acceptAsVouched(
  parts: SignInParts,
  invitation: Invited,
  { credential, session, ...use }: LinkUse & { readonly session: Session },
): Promise<SignedIn> {
  const { user, principal, connectionId } = session
  const prepared = await prepareCredential(parts, credential)
  return parts.db.transaction().execute(async (transaction) => {
    await lockAccess(transaction, invitation.organization_id)
    if (!(await hasAccount(transaction, user.id))) throw refuseSignIn()
    await requireVouched(transaction, session)
    const method = await keepCredential(parts, transaction, prepared, { ...use, userId: user.id })
    const joined = { ...parts, db: joinTransaction(transaction) }
    const action = ownAction(credential.kind === 'passkey' ? 'passkeys:create' : 'passwords:update', user.id)
    await change(joined, principal, action, (_same, note) => {
      return Promise.resolve(note(null, { connection: connectionId, invitation: invitation.id }))
    })
    await join(parts, transaction, { invitation, principal, user })
    await transaction.deleteFrom('sessions').where('id', '=', session.id).execute()
    return beginInside(parts, transaction, { begun: { userId: user.id, method }, browser: use.browser })
  })
}

type Joining = {
  readonly invitation: Pick<InvitationTable, 'id' | 'organization_id' | 'email' | 'link_hash' | 'project_ids'>
  readonly principal: Principal
  readonly user: { readonly id: UserId; readonly name: string }
}

async function join(
  parts: SignInParts,
  transaction: Transaction<Tables>,
  { invitation, principal, user }: Joining,
): Promise<void> {
  const { id, organization_id: organizationId, email } = invitation
  const now = parts.clock.nowMs()
  const action = { action: 'invitations:accept', organizationId, target: id, needsNoRight: true } as const
  await changeAccess({ ...parts, db: joinTransaction(transaction) }, principal, action, async (_same, note) => {
    const used = await transaction
      .updateTable('invitations')
      .set({ accepted_at: now })
      .where('id', '=', id)
      .where('accepted_at', 'is', null)
      .where('withdrawn_at', 'is', null)
      .where('link_hash', '=', invitation.link_hash)
      .returning('role')
      .executeTakeFirst()
    if (used === undefined) throw refuseSignIn()
    const { role } = used
    const known = await findMemberByEmail(transaction, { organizationId, email })
    // Whoever has invited could give the role that the invitation is to, and has seen its link.
    if (known !== undefined && known.role !== role) {
      throw conflict('The member with this address has another role now: be invited anew.')
    }
    const memberId: MemberId = known?.id ?? `mem_${randomId()}`
    if (known === undefined) {
      const nothing = { removed_at: null, suspended_at: null, suspended_by: null }
      const row = { id: memberId, organization_id: organizationId, email, name: user.name, role, created_at: now }
      await transaction
        .insertInto('members')
        .values({ ...row, ...nothing, user_id: user.id, source: 'invite' })
        .execute()
      await openProjects(transaction, memberId, invitation)
    } else {
      await attach(transaction, { organizationId, memberId, userId: user.id })
    }
    note(null, { member: memberId, email, ...(known === undefined && { role }) })
  })
}

type Attaching = { readonly organizationId: OrganizationId; readonly memberId: MemberId; readonly userId: UserId }

/** Throws where somebody has come to sign in as this member since the invitation was made. */
async function attach(
  transaction: Transaction<Tables>,
  { organizationId, memberId, userId }: Attaching,
): Promise<void> {
  const attached = await transaction
    .updateTable('members')
    .set({ user_id: userId })
    .where('id', '=', memberId)
    .where('organization_id', '=', organizationId)
    .where('user_id', 'is', null)
    .returning('id')
    .executeTakeFirst()
  if (attached !== undefined) return
  throw conflict('Somebody signs in as the member with this address already.')
}

async function openProjects(
  transaction: Transaction<Tables>,
  memberId: MemberId,
  { organization_id, project_ids }: Joining['invitation'],
): Promise<void> {
  const projectIds = [...new Set(JSON.parse(project_ids) as ProjectId[])]
  if (projectIds.length === 0) return
  const rows = projectIds.map((project_id) => ({ organization_id, project_id, member_id: memberId }))
  await transaction.insertInto('project_members').values(rows).execute()
}
