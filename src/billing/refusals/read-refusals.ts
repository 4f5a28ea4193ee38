import { sql } from 'kysely'
import type { OrganizationId } from '../../core/ids.ts'
import { requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { Database } from '../../db/database.ts'
import { dayMs, hourMs } from '../usage/usage-columns.ts'
import { minuteMs } from './minute.ts'

export const refusalBuckets = { minute: minuteMs, hour: hourMs, day: dayMs } as const

export type RefusalQuery = {
  /** Null is every organization, and the requests of which nobody knows whose they were. */
  readonly organizationId: OrganizationId | null
  readonly fromMs: number
  /** Left out itself; null goes on to now. */
  readonly toMs: number | null
  readonly bucket: keyof typeof refusalBuckets
  readonly limit: number
  /** The last row of the page before; null begins with the first. */
  readonly after: RefusalRow | null
}

/** How many requests were turned away for one reason in a minute, an hour or a day, in UTC. */
export type RefusalRow = {
  readonly startMs: number
  /** Null where the key was not valid, so that nobody knows whose request it was. */
  readonly organizationId: OrganizationId | null
  readonly class: string
  readonly requests: number
}

/** The counters of refused requests, oldest first. The last few seconds are not in them yet. */
export async function readRefusals(db: Database, principal: Principal, query: RefusalQuery): Promise<RefusalRow[]> {
  const { organizationId, fromMs, toMs, limit, after } = query
  requirePermission(principal, 'refusals:read', { organizationId })
  const width = sql.lit(refusalBuckets[query.bucket])
  let sums = db
    .selectFrom('refusals')
    .select(['organization_id', 'class'])
    .select([sql<number>`at - at % ${width}`.as('bucket'), sql<number>`cast(sum(requests) as bigint)`.as('requests')])
    .where('at', '>=', Math.max(fromMs, after?.startMs ?? fromMs))
    .groupBy(['bucket', 'organization_id', 'class'])
  if (organizationId !== null) sums = sums.where('organization_id', '=', organizationId)
  if (toMs !== null) sums = sums.where('at', '<', toMs)
  let rows = db.selectFrom(sums.as('sums')).selectAll()
  if (after !== null) {
    const last = sql`(${after.startMs}, ${after.organizationId ?? ''}, ${after.class})`
    rows = rows.where(sql<boolean>`(bucket, organization_id, class) > ${last}`)
  }
  const page = await rows.orderBy('bucket').orderBy('organization_id').orderBy('class').limit(limit).execute()
  return page.map((row) => ({
    startMs: row.bucket,
    organizationId: row.organization_id === '' ? null : row.organization_id,
    class: row.class,
    requests: row.requests,
  }))
}
