import type { ConnectionRow } from './read-connections.ts'
import type { Principal } from '../../core/principal.ts'
import { joinTransaction } from '../../db/change.ts'
import { endAgents } from '../agents/end-agents.ts'
import { changeAccess } from '../change-access.ts'
import { SsoFault, type FaultCode } from './fault.ts'
import type { SsoParts } from './parts.ts'
import { useMessage } from './use-message.ts'

export type Ending = {
  readonly messageId: string
  readonly endsAtMs: number
  readonly subject: string | null
  /** How the provider calls the sessions that are over; none for all of the person. */
  readonly sessions: readonly string[]
  /** What the message is refused as when it comes a second time. */
  readonly repeated: FaultCode
}

/**
 * Ends the sessions that a provider says are over, and signs out the coding agents that were allowed in them. The same
 * word counts once, over all gateways.
 */
export async function endSessionsByProvider(
  parts: SsoParts,
  { id: connectionId, organization_id: organizationId }: ConnectionRow,
  { messageId, endsAtMs, subject, sessions, repeated }: Ending,
): Promise<void> {
  const action = { action: 'sessions:revoke', organizationId, target: connectionId }
  const provided: Principal = { kind: 'anonymous', organizationId: null, role: null }
  await changeAccess(parts, provided, action, async (transaction, note) => {
    const joined = { ...parts, db: joinTransaction(transaction) }
    if (!(await useMessage(joined, { connectionId, messageId, endsAtMs }))) throw new SsoFault(repeated)
    const own = transaction.deleteFrom('sessions').where('connection_id', '=', connectionId)
    const ofSubject = subject === null ? own : own.where('sso_subject', '=', subject)
    const chosen = sessions.length === 0 ? ofSubject : ofSubject.where('sso_session', 'in', sessions)
    const ended = await chosen.returning('id').execute()
    const agents = await endAgents(transaction, { connectionId, subject, sessions })
    note(null, { sessions: ended.map((row) => row.id), agents, by: 'provider' })
  })
}
