import type { MemberId, OrganizationId, SessionId, UserId } from '../../core/ids.ts'
import { notFound, requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { SignInMethod } from '../../db/tables/identity.ts'
import { endAgents } from '../agents/end-agents.ts'
import { changeAccess } from '../change-access.ts'
import { requireGrant } from '../members.ts'
import type { SignInParts } from './parts.ts'
import type { Session } from './sessions.ts'
import { ownAction } from './users.ts'

export type ListedSession = {
  readonly id: SessionId
  readonly agent: string
  readonly address: string
  readonly method: SignInMethod
  readonly createdAtMs: number
  readonly lastSeenAtMs: number
  readonly endsAtMs: number
}

/** The sessions of a person that are neither over nor idle, the newest first; the settings bound how many there are. */
export async function listSessions(
  { db, clock, signIn }: SignInParts,
  userId: UserId,
): Promise<readonly ListedSession[]> {
  const now = clock.nowMs()
  const rows = await db
    .selectFrom('sessions')
    .selectAll()
    .where('user_id', '=', userId)
    .where('state', '=', 'open')
    .where('ends_at', '>', now)
    .where('last_seen_at', '>', now - signIn.idleMs)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    agent: row.agent,
    address: row.address,
    method: row.method,
    createdAtMs: row.created_at,
    lastSeenAtMs: row.last_seen_at,
    endsAtMs: row.ends_at,
  }))
}

/**
 * Ends one of a person's own sessions; without an id all but the one that asks, and with them what their coding agents are
 * signed in by: somebody who had got in may have signed some in.
 */
export async function endOwnSessions(parts: SignInParts, session: Session, id: string | null): Promise<void> {
  const userId = session.user.id
  const action = ownAction('sessions:revoke', id ?? userId)
  await changeAccess(parts, session.principal, action, async (transaction, note) => {
    const own = transaction.deleteFrom('sessions').where('user_id', '=', userId)
    const chosen = id === null ? own.where('id', '!=', session.id) : own.where('id', '=', id as SessionId)
    const ended = await chosen.returning('id').execute()
    if (id !== null && ended.length === 0) throw notFound()
    const agents = id === null ? await endAgents(transaction, { userId }) : []
    note(null, { sessions: ended.map((row) => row.id), agents })
  })
}

export type MemberSessions = { readonly organizationId: OrganizationId; readonly memberId: MemberId }

export async function listMemberSessions(
  parts: SignInParts,
  principal: Principal,
  reference: MemberSessions,
): Promise<readonly ListedSession[]> {
  requirePermission(principal, 'sessions:read', reference)
  const { user_id: userId } = await readMemberUser(parts, reference)
  return userId === null ? [] : listSessions(parts, userId)
}

/**
 * Ends one session of a member, or all of them, and with all of them what their coding agents are signed in by. Nobody
 * ends those of somebody whose role is above their own.
 */
export async function endMemberSessions(
  parts: SignInParts,
  principal: Principal,
  { id, ...reference }: MemberSessions & { readonly id: string | null },
): Promise<void> {
  requirePermission(principal, 'sessions:revoke', reference)
  const { organizationId, memberId } = reference
  const action = { action: 'sessions:revoke', organizationId, target: memberId }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    const { user_id: userId, role } = await readMemberUser({ db: transaction }, reference)
    requireGrant(principal, role)
    const own = transaction.deleteFrom('sessions').where('user_id', '=', userId)
    const ended = await (id === null ? own : own.where('id', '=', id as SessionId)).returning('id').execute()
    if (id !== null && ended.length === 0) throw notFound()
    const agents = id === null ? await endAgents(transaction, reference) : []
    note(null, { sessions: ended.map((row) => row.id), agents })
  })
}

/** Throws for a member who was removed: what they do since is no matter of this organization any more. */
async function readMemberUser(
  { db }: { readonly db: Pick<SignInParts['db'], 'selectFrom'> },
  { organizationId, memberId }: MemberSessions,
) {
  const row = await db
    .selectFrom('members')
    .select(['user_id', 'role'])
    .where('id', '=', memberId)
    .where('organization_id', '=', organizationId)
    .where('removed_at', 'is', null)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  return row
}
