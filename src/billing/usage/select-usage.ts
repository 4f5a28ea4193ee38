import { sql, type RawBuilder } from 'kysely'
import type { OrganizationId, ProjectId, ApiKeyId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import { isPostgres } from '../../db/is-postgres.ts'
import type { Dimension } from '../attribution/roll-up-attributions.ts'
import { bucketOfLedger, dayMs, hourMs, summedColumns, sumsOfLedger, type UsageTableName } from './usage-columns.ts'

export type UsageFilter = {
  readonly organizationId: OrganizationId
  /** Whole hours since 1970, UTC; `toMs` itself is left out, and null goes on to now. */
  readonly fromMs: number
  readonly toMs: number | null
  /** Nothing but these hours of that time, by their beginnings. */
  readonly hoursMs?: readonly number[]
  readonly projectIds?: readonly ProjectId[]
  readonly apiKeyIds?: readonly ApiKeyId[]
  readonly models?: readonly string[]
  /** Only what is attributed so, or grouped by it. */
  readonly attributed?: AttributedTo
}

/** An end user, or a tag, of whom requests are for. */
export type AttributedTo = {
  readonly dimension: Dimension
  /** Absent, all of them. */
  readonly values?: readonly string[]
}

export type UsageQuery = UsageFilter & {
  readonly bucket: 'hour' | 'day' | 'whole'
  /** By `attribution`, the group of requests that are attributed to nobody is the empty text. */
  readonly groupBy: 'key' | 'project' | 'model' | 'attribution' | null
  readonly limit: number
  /** Where the page before ended; null begins with the first. */
  readonly cursor: string | null
}

/** Up to which rows of the ledger each table of sums has come. */
export type Progress = { readonly rolledUpTo: number; readonly attributedUpTo: number }

/** The rows of the ledger that are not rolled up yet: behind these numbers, and where another is given up to that. */
export type Fresh = Progress & { readonly upTo: number | null }

const groupColumns = { key: 'api_key_id', project: 'project_id', model: 'model', attribution: 'value' } as const

/** Where every request is attributed, what is left over of the whole is nothing, and no group. */
export function hasAny({ groupBy }: UsageQuery): RawBuilder<unknown> {
  return groupBy === 'attribution' ? sql`having sum(requests) <> 0 or sum(reversed) <> 0` : sql``
}

/**
 * All that a question asks for. By attribution that is what is attributed to each, and as one more group the rest: the
 * whole, less what is attributed. So the groups add up to the whole, whatever is not attributed or not kept any more.
 */
export function selectUsage(db: Database, query: UsageQuery, fresh: Fresh): RawBuilder<unknown> {
  const { attributed, ...others } = query
  if (attributed === undefined) return selectSources(query, fresh)
  const own = selectAttributed(db, query, { ...fresh, attributed })
  if (query.groupBy !== 'attribution' || attributed.values !== undefined) return own
  const columns = (sign: string) =>
    sql.join(summedColumns.map((column) => sql`${sql.raw(sign)}${sql.ref(column)} as ${sql.ref(column)}`))
  return sql`
    select * from (${own}) as each_one
    union all
    select bucket, '' as grouped, ${columns('')} from (${selectSources({ ...others, groupBy: null }, fresh)}) as whole
    union all
    select bucket, '' as grouped, ${columns('-')} from (${own}) as less`
}

/** The sums by whom requests are for, and of the ledger what they do not contain yet. */
function selectAttributed(
  db: Database,
  query: UsageQuery,
  { attributedUpTo, upTo, attributed: { dimension, values } }: Fresh & { readonly attributed: AttributedTo },
): RawBuilder<unknown> {
  const value = valueOfLedger(db, dimension)
  const isWanted = (column: RawBuilder<unknown>) => (values === undefined ? sql`1 = 1` : isOneOf(column, values))
  const named = query.groupBy === 'attribution' ? value : groupedOf(query)
  const source = (table: RawBuilder<unknown>, grouped: RawBuilder<unknown>, sums: RawBuilder<unknown>) => sql`
    select ${bucketOf(query)} as bucket, ${grouped} as grouped, ${sums} from ${table}`
  return sql`
    ${source(sql.table('attributed_hours'), groupedOf(query), rolledUpSums)}
    where organization_id = ${query.organizationId} and dimension = ${dimension} and ${isWanted(sql.ref('value'))}
      and ${isInHours(query, sql.ref('at'))} and ${conditionsOf(query)} group by ${sql.lit(1)}, ${sql.lit(2)}
    union all
    ${source(sql.table('ledger'), named, freshSums)}
    where ${isFresh(query, attributedUpTo, upTo)} and ${value} is not null and ${isWanted(value)}
      and ${isInHours(query, bucketOfLedger(hourMs))} and ${conditionsOf(query, unindexed)}
    group by ${sql.lit(1)}, ${sql.lit(2)}`
}

/** To whom a row of the ledger is attributed. */
function valueOfLedger(db: Database, dimension: Dimension): RawBuilder<unknown> {
  if (dimension === 'user') return sql.ref('end_user')
  const key = dimension.slice('tag:'.length)
  return isPostgres(db) ? sql`(tags::json ->> ${key})` : sql`(tags ->> ${`$."${key}"`})`
}

const rolledUpSums = sql.join(
  summedColumns.map((column) => sql`cast(sum(${sql.ref(column)}) as bigint) as ${sql.ref(column)}`),
)
const freshSums = sql.join(summedColumns.map((column) => sql`${sumsOfLedger[column]} as ${sql.ref(column)}`))

function groupedOf({ groupBy }: UsageQuery): RawBuilder<unknown> {
  return groupBy === null ? sql`''` : sql.ref(groupColumns[groupBy])
}

function isInHours({ hoursMs }: UsageQuery, hour: RawBuilder<unknown>): RawBuilder<unknown> {
  return hoursMs === undefined ? sql`1 = 1` : isOneOf(hour, hoursMs)
}

function isFresh({ organizationId }: UsageQuery, after: number, upTo: number | null): RawBuilder<unknown> {
  const isThere = upTo === null ? sql`1 = 1` : sql`sequence <= ${upTo}`
  return sql`sequence > ${after} and ${isThere} and ${unindexed('organization_id')} = ${organizationId}`
}

/**
 * A column by which the database cannot look a row up: the few rows behind the last one rolled up are found fastest by
 * their sequence, and a planner with statistics of a large ledger prefers to skip through another index, all of it.
 */
function unindexed(column: ScopeColumn): RawBuilder<unknown> {
  return column === 'at' ? sql`at + 0` : sql`${sql.ref(column)} || ''`
}

/** The rollups, and of the ledger what they do not contain yet. One statement, so both are of the same moment. */
function selectSources(query: UsageQuery, { rolledUpTo, upTo }: Omit<Fresh, 'attributedUpTo'>): RawBuilder<unknown> {
  const grouped = groupedOf(query)
  const bucket = bucketOf(query)
  return sql`
    select ${bucket} as bucket, ${grouped} as grouped, ${rolledUpSums} from ${sql.table(tableFor(query))}
    where organization_id = ${query.organizationId} and ${isInHours(query, sql.ref('at'))} and ${conditionsOf(query)}
    group by ${sql.lit(1)}, ${sql.lit(2)}
    union all
    select ${bucket} as bucket, ${grouped} as grouped, ${freshSums} from ledger
    where ${isFresh(query, rolledUpTo, upTo)} and ${isInHours(query, bucketOfLedger(hourMs))} and ${conditionsOf(query, unindexed)}
    group by ${sql.lit(1)}, ${sql.lit(2)}`
}

function bucketOf({ bucket }: UsageQuery): RawBuilder<unknown> {
  if (bucket === 'whole') return sql`0`
  return bucketOfLedger(bucket === 'hour' ? hourMs : dayMs)
}

/** The smaller table where nothing asks for single hours. */
function tableFor({ fromMs, toMs, bucket }: UsageQuery): UsageTableName {
  const isByDay = bucket !== 'hour' && fromMs % dayMs === 0 && (toMs === null || toMs % dayMs === 0)
  return isByDay ? 'usage_days' : 'usage_hours'
}

type ScopeColumn = 'organization_id' | 'at' | 'project_id' | 'api_key_id' | 'model'

function conditionsOf(
  { fromMs, toMs, projectIds, apiKeyIds, models }: UsageFilter,
  named: (column: ScopeColumn) => RawBuilder<unknown> = sql.ref,
): RawBuilder<unknown> {
  const conditions = [sql`${named('at')} >= ${fromMs}`]
  if (toMs !== null) conditions.push(sql`${named('at')} < ${toMs}`)
  if (projectIds !== undefined) conditions.push(isOneOf(named('project_id'), projectIds))
  if (apiKeyIds !== undefined) conditions.push(isOneOf(named('api_key_id'), apiKeyIds))
  if (models !== undefined) conditions.push(isOneOf(named('model'), models))
  return sql.join(conditions, sql` and `)
}

function isOneOf(column: RawBuilder<unknown>, values: readonly (string | number)[]): RawBuilder<unknown> {
  return values.length === 0 ? sql`1 = 0` : sql`${column} in (${sql.join(values)})`
}
