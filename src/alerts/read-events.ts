import { may, requirePermission } from '../core/permission.ts'
import type { OrganizationId } from '../core/ids.ts'
import type { Principal } from '../core/principal.ts'
import type { AlertEventTable } from '../db/tables/alerts.ts'
import type { AlertParts } from './append-event.ts'
import { ownerOf } from './channels.ts'

export type AlertEvent = {
  readonly id: string
  readonly sequence: number
  readonly atMs: number
  readonly topic: AlertEventTable['topic']
  /** Whether a silence kept it from being delivered. */
  readonly isSilenced: boolean
  readonly data: unknown
}

type EventSearch = {
  readonly organizationId: OrganizationId
  readonly topics: readonly AlertEventTable['topic'][]
  /** Only those before this one; null begins with the newest. */
  readonly beforeSequence: number | null
  readonly limit: number
}

/** Topics that are of one key each, and say its name. */
const ofKeys: readonly AlertEventTable['topic'][] = ['key.ending', 'key.new-network']

/** What was told, newest first, for as long as it is kept; what is of a key, to who may see keys. */
export async function listEvents(
  { db }: Pick<AlertParts, 'db'>,
  principal: Principal,
  { organizationId, topics, beforeSequence, limit }: EventSearch,
): Promise<readonly AlertEvent[]> {
  const owner = ownerOf(organizationId)
  requirePermission(principal, 'alerts:read', owner)
  const shown = may(principal, 'api-keys:read', owner) ? topics : topics.filter((topic) => !ofKeys.includes(topic))
  let query = db
    .selectFrom('alert_events')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('topic', 'in', shown)
  if (beforeSequence !== null) query = query.where('sequence', '<', beforeSequence)
  const rows = await query.orderBy('sequence', 'desc').limit(limit).execute()
  return rows.map(({ id, sequence, at, topic, is_silenced, data }) => {
    return { id, sequence, atMs: at, topic, isSilenced: is_silenced === 1, data: JSON.parse(data) as unknown }
  })
}
