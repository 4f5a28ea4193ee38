import { type RawBuilder, sql } from 'kysely'
import type { ApiKeyId, MemberId, OrganizationId, ProjectId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import type { LedgerTable } from '../../db/tables/billing.ts'

export type LedgerFilter = {
  readonly organizationId: OrganizationId
  /** Rows of every project are read where this is absent. */
  readonly projectIds?: readonly ProjectId[]
  readonly apiKeyId?: ApiKeyId
  readonly model?: string
  readonly outcome?: LedgerTable['outcome']
  readonly reason?: string
  readonly protocol?: string
  readonly isStream?: boolean
  readonly clientRequestId?: string
  /** The beginning of a request's id, or all of it. */
  readonly requestIdStart?: string
  readonly durationMsMin?: number
  readonly costMicrosMin?: number
  /** Requests of whose prompt nothing was reused. */
  readonly isCacheMiss?: true
  /** Requests with keys that this member owns. */
  readonly ownerId?: MemberId
  readonly fromMs?: number
  readonly toMs?: number
}

/** What there is an index for, each by itself. */
export type Indexed = Pick<LedgerFilter, 'apiKeyId' | 'outcome' | 'projectIds' | 'model'>

/** Written so that none of their indexes is taken: the rows are found by another one, and looked at for these. */
export function passOver({ apiKeyId, outcome, projectIds, model }: Indexed): RawBuilder<boolean>[] {
  const conditions: RawBuilder<boolean>[] = []
  if (projectIds !== undefined) conditions.push(sql`project_id || '' in (${sql.join(projectIds)})`)
  if (apiKeyId !== undefined) conditions.push(sql`api_key_id || '' = ${apiKeyId}`)
  if (model !== undefined) conditions.push(sql`model || '' = ${model}`)
  if (outcome !== undefined) conditions.push(sql`outcome || '' = ${outcome}`)
  return conditions
}

type OtherFilters = Pick<
  LedgerFilter,
  | 'reason'
  | 'protocol'
  | 'isStream'
  | 'clientRequestId'
  | 'requestIdStart'
  | 'durationMsMin'
  | 'costMicrosMin'
  | 'isCacheMiss'
  | 'ownerId'
>

/** What no index is for: it is looked for among the rows that the other filters leave, newest first. */
export function conditionsOf(db: Database, organizationId: OrganizationId, asked: OtherFilters): RawBuilder<boolean>[] {
  const conditions: RawBuilder<boolean>[] = []
  const { reason, protocol, isStream, clientRequestId, requestIdStart, durationMsMin, costMicrosMin, ownerId } = asked
  if (reason !== undefined) conditions.push(sql`reason = ${reason}`)
  if (protocol !== undefined) conditions.push(sql`protocol = ${protocol}`)
  if (isStream !== undefined) conditions.push(sql`is_stream = ${isStream ? 1 : 0}`)
  if (clientRequestId !== undefined) conditions.push(sql`client_request_id = ${clientRequestId}`)
  if (requestIdStart !== undefined) conditions.push(beginsWith(requestIdStart))
  if (durationMsMin !== undefined) conditions.push(sql`duration_ms >= ${durationMsMin}`)
  if (costMicrosMin !== undefined) conditions.push(sql`cost_micros >= ${costMicrosMin}`)
  if (asked.isCacheMiss === true) conditions.push(sql`kind = 'charge' and input_cache_read = 0`)
  if (ownerId !== undefined) {
    const keys = db
      .selectFrom('api_keys')
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('owner_id', '=', ownerId)
    // Taken for its own value, it names no index: these rows come in the order of the others.
    conditions.push(sql`api_key_id || '' in ${keys}`)
  }
  return conditions
}

/** All of an id is found by its index. */
export const wholeRequestId = /^req_[0-9A-Za-z]{24}$/

function beginsWith(requestIdStart: string): RawBuilder<boolean> {
  if (wholeRequestId.test(requestIdStart)) return sql`request_id = ${requestIdStart}`
  // The order of letters is the database's own, so a range would not be the beginning everywhere.
  return sql`substr(request_id, 1, cast(${requestIdStart.length} as integer)) = ${requestIdStart}`
}
