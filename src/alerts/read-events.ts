import { requirePermission } from '../core/permission.ts'
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

/** What was told, newest first, for as long as it is kept. */
export async function listEvents(
  { db }: Pick<AlertParts, 'db'>,
  principal: Principal,
  { organizationId, topics, beforeSequence, limit }: EventSearch,
): Promise<readonly AlertEvent[]> {
  requirePermission(principal, 'alerts:read', ownerOf(organizationId))
  let query = db
    .selectFrom('alert_events')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('topic', 'in', topics)
  if (beforeSequence !== null) query = query.where('sequence', '<', beforeSequence)
  const rows = await query.orderBy('sequence', 'desc').limit(limit).execute()
  return rows.map(({ id, sequence, at, topic, is_silenced, data }) => {
    return { id, sequence, atMs: at, topic, isSilenced: is_silenced === 1, data: JSON.parse(data) as unknown }
  })
}
