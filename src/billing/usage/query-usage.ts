import { sql, type RawBuilder } from 'kysely'
import type { Usage } from '../../core/generation.ts'
import type { ApiKeyId, OrganizationId, ProjectId, RequestId } from '../../core/ids.ts'
import { picosPerMicro } from '../../core/money.ts'
import { narrowProjects } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { Database } from '../../db/database.ts'
import type { tokenColumns } from '../ledger/token-columns.ts'
import type { Dimension } from '../attribution/roll-up-attributions.ts'
import { isPostgres } from '../../db/is-postgres.ts'
import { lastSettled } from './last-settled.ts'
import { makeCursor, parseCursor } from './usage-cursor.ts'
import {
  bucketOfLedger,
  dayMs,
  hourMs,
  summedColumns,
  sumsOfLedger,
  type SummedColumn,
  type UsageTableName,
} from './usage-columns.ts'

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

export type UsageRow = {
  /** The beginning of the hour or day; null where the whole time is one. */
  readonly startMs: number | null
  /** The id of the key or project, the model, or to whom it is attributed; null where nothing is grouped. */
  readonly group: string | null
  readonly requests: number
  readonly finished: number
  readonly aborted: number
  readonly failed: number
  readonly reversed: number
  readonly unpriced: number
  readonly usage: Usage
  /** Exact: no row of the ledger was rounded. */
  readonly costPicos: bigint
}

export type UsagePage = { readonly rows: readonly UsageRow[]; readonly nextCursor: string | null }

/** What the principal may see of an organization's usage. */
export function readUsage(db: Database, principal: Principal, query: UsageQuery): Promise<UsagePage> {
  const projectIds = narrowProjects(principal, 'usage:read', query)
  return queryUsage(db, { ...query, ...(projectIds !== undefined && { projectIds }) })
}

/** The usage of one organization, up to the last row of the ledger: what is not yet rolled up is added from there. */
export async function queryUsage(db: Database, query: UsageQuery): Promise<UsagePage> {
  const { bucket, groupBy, limit } = query
  const after = query.cursor === null ? null : parseCursor(query.cursor, bucket === 'whole')
  const fromMs = after === null || bucket === 'whole' ? query.fromMs : Math.max(query.fromMs, after.bucket)
  requireWholeHours(query)
  const condition =
    after === null
      ? sql`1 = 1`
      : sql`(bucket > ${after.bucket} or (bucket = ${after.bucket} and grouped > ${after.grouped}))`
  const rows = await readSums(db, { ...query, fromMs }, condition)
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    rows: page.map((row) => toUsageRow(row, bucket !== 'whole', groupBy !== null)),
    nextCursor: rows.length > limit && last !== undefined ? makeCursor(last) : null,
  }
}

/** More rows than anybody asks for: a year of a thousand keys by the day is less. */
const rowsMax = 1_000_000

/** The sums of several questions, all of the same moment: each counts up to the same row of the ledger. */
export async function queryUsageTogether(
  db: Database,
  questions: readonly Omit<UsageQuery, 'limit' | 'cursor'>[],
): Promise<readonly (readonly UsageRow[])[]> {
  for (const question of questions) requireWholeHours(question)
  for (;;) {
    const upTo = await lastSettled(db)
    const answers: (readonly UsageRow[])[] = []
    for (const question of questions) {
      const progress = await readProgress(db)
      const query = { ...question, limit: rowsMax, cursor: null }
      const isBehind = Math.max(progress.rolledUpTo, progress.attributedUpTo) > upTo
      const rows = isBehind ? null : await sumOnce(db, query, sql`1 = 1`, { ...progress, upTo })
      if (rows === null) break
      answers.push(rows.map((row) => toUsageRow(row, question.bucket !== 'whole', question.groupBy !== null)))
    }
    if (answers.length === questions.length) return answers
  }
}

/** What was spent from a time on, a whole hour, by an organization or a part of it. For budgets. */
export async function spentSince(
  db: Database,
  scope: Omit<UsageFilter, 'fromMs' | 'toMs'>,
  periodStartMs: number,
): Promise<Spent & { readonly upTo: number }> {
  const whole = { bucket: 'whole', groupBy: null, limit: 1, cursor: null } as const
  const query = { ...scope, ...whole, fromMs: periodStartMs, toMs: null }
  requireWholeHours(query)
  for (;;) {
    const upTo = await lastSettled(db)
    const progress = await readProgress(db)
    const rows = progress.rolledUpTo > upTo ? null : await sumOnce(db, query, sql`1 = 1`, { ...progress, upTo })
    if (rows !== null) return { ...(rows[0] === undefined ? nothing : toUsageRow(rows[0], false, false)), upTo }
  }
}

/** The same of single requests, up to a row of the ledger. Their reversals are not among it. */
export async function spentByRequests(
  db: Database,
  requestIds: readonly RequestId[],
  { fromMs, upTo }: { readonly fromMs: number; readonly upTo: number },
): Promise<Spent> {
  if (requestIds.length === 0) return nothing
  const sums = summedColumns.map((column) => sql`cast(${sumsOfLedger[column]} as text) as ${sql.ref(column)}`)
  const { rows } = await sql<SumRow>`
    select ${sql.join(sums)} from ledger
    where request_id in (${sql.join(requestIds)}) and kind = 'charge' and at >= ${fromMs} and sequence <= ${upTo}
    having count(*) > 0`.execute(db)
  return rows[0] === undefined ? nothing : toUsageRow(rows[0], false, false)
}

export type Spent = { readonly costPicos: bigint; readonly usage: Usage; readonly requests: number }
const nothing: Spent = { costPicos: 0n, usage: toUsage(() => 0), requests: 0 }

type SumRow = {
  readonly bucket: number
  readonly grouped: string
  readonly rolled_up_to: number
  readonly attributed_up_to: number
} & Readonly<Record<SummedColumn, string>>

const groupColumns = { key: 'api_key_id', project: 'project_id', model: 'model', attribution: 'value' } as const

/**
 * Asks with the watermark as a number, so that the database knows how few rows lie behind it.
 * Where rows have been rolled up in the meantime they would count twice, and it asks again.
 */
async function readSums(db: Database, query: UsageQuery, condition: RawBuilder<unknown>): Promise<readonly SumRow[]> {
  for (;;) {
    const rows = await sumOnce(db, query, condition, { ...(await readProgress(db)), upTo: null })
    if (rows !== null) return rows
  }
}

type Progress = { readonly rolledUpTo: number; readonly attributedUpTo: number }

async function readProgress(db: Database): Promise<Progress> {
  const { rows } = await sql<{ all: number; attributed: number }>`
    select (select rolled_up_to from ledger_progress) as "all",
      (select rolled_up_to from attribution_progress) as attributed`.execute(db)
  return { rolledUpTo: Number(rows[0]?.all), attributedUpTo: Number(rows[0]?.attributed) }
}

/** The rows of the ledger that are not rolled up yet: behind these numbers, and where another is given up to that. */
type Fresh = Progress & { readonly upTo: number | null }

/** Null where rows have been rolled up in the meantime. */
async function sumOnce(
  db: Database,
  query: UsageQuery,
  condition: RawBuilder<unknown>,
  fresh: Fresh,
): Promise<readonly SumRow[] | null> {
  const sums = summedColumns.map((column) => sql`cast(sum(${sql.ref(column)}) as text) as ${sql.ref(column)}`)
  const { rows } = await sql<SumRow>`
    select bucket, grouped, (select rolled_up_to from ledger_progress) as rolled_up_to,
      (select rolled_up_to from attribution_progress) as attributed_up_to, ${sql.join(sums)}
    from (${selectAll(db, query, fresh)}) as usage_rows
    where ${condition} group by bucket, grouped ${hasAny(query)} order by bucket, grouped limit ${query.limit + 1}`.execute(
    db,
  )
  const { rolledUpTo, attributedUpTo } = fresh
  // Nothing else asks for the second mark, which may move on while the first one stands.
  const isSame = (row: SumRow) =>
    Number(row.rolled_up_to) === rolledUpTo &&
    (query.attributed === undefined || Number(row.attributed_up_to) === attributedUpTo)
  return rows.every(isSame) ? rows : null
}

/** Where every request is attributed, what is left over of the whole is nothing, and no group. */
function hasAny({ groupBy }: UsageQuery): RawBuilder<unknown> {
  return groupBy === 'attribution' ? sql`having sum(requests) <> 0 or sum(reversed) <> 0` : sql``
}

/**
 * All that a question asks for. By attribution that is what is attributed to each, and as one more group the rest: the
 * whole, less what is attributed. So the groups add up to the whole, whatever is not attributed or not kept any more.
 */
function selectAll(db: Database, query: UsageQuery, fresh: Fresh): RawBuilder<unknown> {
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

function requireWholeHours({ fromMs, toMs }: UsageFilter): void {
  if (fromMs % hourMs === 0 && (toMs === null || toMs % hourMs === 0)) return
  throw new RangeError('Usage is kept by the hour: it begins and ends with a whole one.')
}

function toUsageRow(row: SumRow, hasBucket: boolean, isGrouped: boolean): UsageRow {
  const count = (column: SummedColumn) => Number(row[column])
  return {
    startMs: hasBucket ? row.bucket : null,
    group: isGrouped ? row.grouped : null,
    requests: count('requests'),
    finished: count('finished'),
    aborted: count('aborted'),
    failed: count('failed'),
    reversed: count('reversed'),
    unpriced: count('unpriced'),
    usage: toUsage(count),
    costPicos: BigInt(row.cost_micros) * picosPerMicro + BigInt(row.cost_rest_picos),
  }
}

function toUsage(count: (column: (typeof tokenColumns)[number]) => number): Usage {
  return {
    inputUncached: count('input_uncached'),
    inputCacheRead: count('input_cache_read'),
    inputCacheWrite: count('input_cache_write'),
    inputCacheWriteLong: count('input_cache_write_long'),
    output: count('output'),
    outputThinking: count('output_thinking'),
  }
}
