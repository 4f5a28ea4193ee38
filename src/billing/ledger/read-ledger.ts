import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { OrganizationId, RequestId, ApiKeyId, MemberId, ProjectId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import type { LedgerTable } from '../../db/tables/billing.ts'
import type { CacheReport, Usage } from '../../core/generation.ts'
import { bucketOfLedger, hourMs } from '../usage/usage-columns.ts'
import { fromTokenColumns } from './token-columns.ts'
import { narrowProjects, notFound, requirePermission, type Target } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'

export type LedgerRow = Selectable<LedgerTable>

/** Wide enough to be fast, and small enough to be forgotten at once. */
const sequencesAtOnce = 2_000

export type LedgerRange = {
  /** Null is every organization, for the operator. */
  readonly organizationId?: OrganizationId | null
  readonly fromMs?: number
  readonly toMs?: number
  readonly afterSequence?: number
  readonly toSequence?: number
}

/** Reads the ledger in its order, in pages, so that memory does not grow with it. It goes to the row that was last when it began. */
export async function* readLedger(db: Database, range: LedgerRange = {}): AsyncGenerator<readonly LedgerRow[]> {
  const ends = await db
    .selectFrom('ledger')
    .select(({ fn }) => [fn.min('sequence').as('first'), fn.max('sequence').as('last')])
    .executeTakeFirst()
  const last = Math.min(ends?.last ?? 0, range.toSequence ?? Infinity)
  let after = Math.max((ends?.first ?? 1) - 1, range.afterSequence ?? 0)
  for (; after < last; after += sequencesAtOnce) {
    const page = await readPage(db, range, { after, upTo: Math.min(last, after + sequencesAtOnce) })
    if (page.length > 0) yield page
  }
}

function readPage(
  db: Database,
  { organizationId = null, fromMs, toMs }: LedgerRange,
  { after, upTo }: { readonly after: number; readonly upTo: number },
): Promise<LedgerRow[]> {
  let query = db
    .selectFrom('ledger')
    .selectAll()
    .where('sequence', '>', after)
    .where('sequence', '<=', upTo)
    .orderBy('sequence')
  if (organizationId !== null) query = query.where('organization_id', '=', organizationId)
  if (fromMs !== undefined) query = query.where('at', '>=', fromMs)
  if (toMs !== undefined) query = query.where('at', '<', toMs)
  return query.execute()
}

export type RecordedUsage = {
  readonly model: string
  readonly usage: Usage
  /** Null where the request never reached a slot. */
  readonly cache: CacheReport | null
}

export async function findRecordedUsage(db: Database, requestId: RequestId): Promise<RecordedUsage | null> {
  const row = await db
    .selectFrom('ledger')
    .selectAll()
    .where('request_id', '=', requestId)
    .where('kind', '=', 'charge')
    .executeTakeFirst()
  if (row === undefined) return null
  const { cache_source: source, cache_differs_at: atToken, cache_differs_in: part } = row
  const differs = atToken === null ? null : { atToken, in: part ?? '' }
  return {
    model: row.model,
    usage: fromTokenColumns(row),
    cache: source === null ? null : { source, reusedTokens: row.input_cache_read, differs },
  }
}

export type LedgerFilter = {
  readonly organizationId: OrganizationId
  /** Rows of every project are read where this is absent. */
  readonly projectIds?: readonly ProjectId[]
  readonly apiKeyId?: ApiKeyId
  readonly model?: string
  readonly outcome?: LedgerRow['outcome']
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

/** The position of a row in the list, newest first. */
export type LedgerCursor = { readonly at: number; readonly sequence: number }

export type LedgerSearch = LedgerFilter & { readonly after: LedgerCursor | null; readonly limit: number }

/**
 * Charges and reversals of an organization, newest first, as far as the principal may see them; what is added
 * meanwhile does not move what comes after.
 */
export async function listLedger(db: Database, principal: Principal, search: LedgerSearch): Promise<LedgerRow[]> {
  const projectIds = narrowProjects(principal, 'requests:read', search)
  if (projectIds?.length === 0) return []
  const isMerged = projectIds !== undefined && projectIds.length <= mergedProjectsMax
  // The newest rows of one project are found at once; those of several would be looked for among all of the organization.
  const [first, ...others] = isMerged
    ? projectIds.map((id) => selectBehind(db, { ...search, projectIds: [id] }))
    : [selectBehind(db, { ...search, ...(projectIds !== undefined && { projectIds }) })]
  if (first === undefined) return []
  // All parts come in the order of the whole, so each is read only as far as the page goes.
  const all = others.reduce((sum, part) => sum.unionAll(part), first)
  return all.orderBy('at', 'desc').orderBy('sequence', 'desc').limit(search.limit).execute()
}

/** SQLite puts no more than 500 queries together. */
const mergedProjectsMax = 100

function selectBehind(db: Database, { after, limit: _, ...filter }: LedgerSearch) {
  const query = selectMatching(db, filter).selectAll()
  return after === null ? query : query.where(sql<boolean>`(at, sequence) < (${after.at}, ${after.sequence})`)
}

function selectMatching(
  db: Database,
  { organizationId, projectIds, apiKeyId, model, outcome, fromMs, toMs, ...others }: LedgerFilter,
) {
  let query = db.selectFrom('ledger').where('organization_id', '=', organizationId)
  if (projectIds !== undefined) query = query.where('project_id', 'in', projectIds)
  if (apiKeyId !== undefined) query = query.where('api_key_id', '=', apiKeyId)
  if (model !== undefined) query = query.where('model', '=', model)
  // It stands in the text, since an index that has only some of the outcomes is of use only where it is known.
  if (outcome !== undefined) query = query.where('outcome', '=', sql.lit(outcome))
  if (fromMs !== undefined) query = query.where('at', '>=', fromMs)
  if (toMs !== undefined) query = query.where('at', '<', toMs)
  for (const condition of conditionsOf(db, organizationId, others)) query = query.where(condition)
  return query
}

export type HourCount = Pick<LedgerRow, 'outcome'> & { readonly hourMs: number; readonly requests: number }

/** How many requests match in each hour in which any do, by how they ended, as far as the principal may see them. */
export async function countByHour(
  db: Database,
  principal: Principal,
  filter: LedgerFilter,
): Promise<readonly HourCount[]> {
  const projectIds = narrowProjects(principal, 'requests:read', filter)
  if (projectIds?.length === 0) return []
  const hour = bucketOfLedger(hourMs)
  const rows = await selectMatching(db, { ...filter, ...(projectIds !== undefined && { projectIds }) })
    .where('kind', '=', 'charge')
    .select(['outcome', hour.as('hour')])
    .select((eb) => eb.fn.countAll().as('requests'))
    .groupBy(['outcome', hour])
    .execute()
  return rows.map(({ outcome, hour: at, requests }) => ({
    outcome,
    hourMs: Number(at),
    requests: Number(requests),
  }))
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
function conditionsOf(db: Database, organizationId: OrganizationId, asked: OtherFilters): RawBuilder<boolean>[] {
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
    conditions.push(sql`api_key_id in ${keys}`)
  }
  return conditions
}

/** All of an id is found by its index. */
const wholeRequestId = /^req_[0-9A-Za-z]{24}$/

function beginsWith(requestIdStart: string): RawBuilder<boolean> {
  if (wholeRequestId.test(requestIdStart)) return sql`request_id = ${requestIdStart}`
  // The order of letters is the database's own, so a range would not be the beginning everywhere.
  return sql`substr(request_id, 1, cast(${requestIdStart.length} as integer)) = ${requestIdStart}`
}

type SettledSearch = LedgerFilter & {
  /** Rows of the ledger behind this one, up to that one. */
  readonly afterSequence: number
  readonly toSequence: number
  readonly limit: number
}

/** What was added to an organization's rows, as far as the principal may see it: the newest, newest first, and how many. */
export async function readAdded(
  db: Database,
  principal: Principal,
  search: SettledSearch,
): Promise<{ readonly rows: readonly LedgerRow[]; readonly count: number }> {
  const projectIds = narrowProjects(principal, 'requests:read', search)
  if (projectIds?.length === 0) return { rows: [], count: 0 }
  const { organizationId, apiKeyId, model, outcome, fromMs, toMs } = search
  let query = db
    .selectFrom('ledger')
    .where('sequence', '>', search.afterSequence)
    .where('sequence', '<=', search.toSequence)
    // No index is to be taken for these: the few rows of a second are found by their sequence.
    .where(sql<boolean>`organization_id || '' = ${organizationId}`)
  if (projectIds !== undefined) query = query.where(sql<boolean>`project_id || '' in (${sql.join(projectIds)})`)
  if (apiKeyId !== undefined) query = query.where(sql<boolean>`api_key_id || '' = ${apiKeyId}`)
  if (model !== undefined) query = query.where('model', '=', model)
  if (outcome !== undefined) query = query.where('outcome', '=', outcome)
  if (fromMs !== undefined) query = query.where('at', '>=', fromMs)
  if (toMs !== undefined) query = query.where('at', '<', toMs)
  for (const condition of conditionsOf(db, organizationId, search)) query = query.where(condition)
  const rows = await query.selectAll().orderBy('sequence', 'desc').limit(search.limit).execute()
  if (rows.length < search.limit) return { rows, count: rows.length }
  const { count } = await query.select((eb) => eb.fn.countAll().as('count')).executeTakeFirstOrThrow()
  return { rows, count: Number(count) }
}

/** A request's charge and, where there is one, its reversal. Throws `not-found` for one that the principal may not see. */
export async function readRequestRows(db: Database, principal: Principal, requestId: RequestId): Promise<LedgerRow[]> {
  const lines = await rowsOfRequest(db, requestId)
  const [line] = lines
  if (line === undefined) throw notFound()
  requirePermission(principal, 'requests:read', targetOf(line))
  return lines
}

/** To what a permission is asked for that reaches a request; null where there is none. */
export async function findRequestTarget(db: Database, requestId: RequestId): Promise<Target | null> {
  const [line] = await rowsOfRequest(db, requestId)
  return line === undefined ? null : targetOf(line)
}

function targetOf({ organization_id: organizationId, project_id: projectId }: LedgerRow): Target {
  return { organizationId, projectId }
}

function rowsOfRequest(db: Database, requestId: RequestId): Promise<LedgerRow[]> {
  return db.selectFrom('ledger').selectAll().where('request_id', '=', requestId).orderBy('sequence').execute()
}
