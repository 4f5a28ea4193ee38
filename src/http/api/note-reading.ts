import { actorOf, change, type Fields } from '../../db/change.ts'
import type { Asked } from './carry-out.ts'
import { chainOf } from './resources/audit/audit-chains.ts'
import type { RouteParts } from './route.ts'

type Reading = Pick<Asked, 'route' | 'principal' | 'session' | 'params' | 'query' | 'readings'>

/**
 * Notes in the audit who has saved what and by which filters, before anything of it is sent, and which person has looked at
 * what tells of others, once an hour. Programs read with keys that were given to them for it.
 */
export async function noteReading({ accounts }: Pick<RouteParts, 'accounts'>, asked: Reading): Promise<void> {
  const { route, principal, session, params, query, readings } = asked
  // The holder of a key who saves their own statement is nobody that the audit knows by name.
  if (principal.kind === 'anonymous') return
  const organizationId = chainOf(params)
  const names = route.path.replace(/\/export$/, '').split('/')
  const what = names.findLast((name) => !name.startsWith('{')) ?? ''
  const isExport = route.answer === 'export'
  const isRead = route.isNoted === true && session !== null
  if (!isExport && !(isRead && readings.isNew(`${what} ${organizationId} ${actorOf(principal)}`))) return
  const verb = isExport ? 'export' : 'read'
  const action = { action: `${what}:${verb}`, organizationId, target: organizationId, needsNoRight: true } as const
  const { organizationId: _, ...which } = params
  const fields = isExport ? { ...which, ...(query as Fields) } : null
  await change(accounts, principal, action, (_transaction, note) => Promise.resolve(note(null, fields)))
}
