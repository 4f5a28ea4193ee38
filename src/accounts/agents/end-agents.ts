import type { Transaction } from 'kysely'
import type { AgentSignInId, ConnectionId, MemberId, OrganizationId, UserId } from '../../core/ids.ts'
import type { Tables } from '../../db/tables.ts'

/** Whose coding agents are meant. */
export type AgentsOf =
  | { readonly userId: UserId; readonly id?: string }
  | { readonly memberId: MemberId; readonly organizationId: OrganizationId }
  /** As a provider names people and its own sessions: no subject is everybody, no sessions are all of the person's. */
  | { readonly connectionId: ConnectionId; readonly subject: string | null; readonly sessions: readonly string[] }

/**
 * Signs coding agents out, in the transaction that ends what they were signed in by: their tokens go with them. Whoever
 * calls it counts a change of access, so that gateways refuse what they ask next.
 */
export async function endAgents(transaction: Transaction<Tables>, of: AgentsOf): Promise<readonly AgentSignInId[]> {
  const rows = await choose(transaction, of).returning('id').execute()
  return rows.map(({ id }) => id)
}

function choose(transaction: Transaction<Tables>, of: AgentsOf) {
  const all = transaction.deleteFrom('agent_sign_ins')
  if ('memberId' in of) {
    return all.where('organization_id', '=', of.organizationId).where('member_id', '=', of.memberId)
  }
  if ('userId' in of) {
    const own = all.where('user_id', '=', of.userId)
    return of.id === undefined ? own : own.where('id', '=', of.id as AgentSignInId)
  }
  const { connectionId, subject, sessions } = of
  const vouched = all.where('connection_id', '=', connectionId)
  const ofSubject = subject === null ? vouched : vouched.where('sso_subject', '=', subject)
  return sessions.length === 0 ? ofSubject : ofSubject.where('sso_session', 'in', sessions)
}
