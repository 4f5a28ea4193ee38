import { zeroUsage } from '../../core/generation.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { narrowProjects, seenProjects } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { Database } from '../../db/database.ts'
import { queryUsageTogether, type UsageRow } from './query-usage.ts'
import type { UsageFilter, UsageQuery } from './select-usage.ts'
import { type BucketKind, bucketStarts } from './zone-buckets.ts'
import { dayMs, hourMs } from './usage-columns.ts'

export type SeriesQuery = UsageFilter & {
  readonly toMs: number
  readonly bucket: BucketKind
  readonly zone: string
  readonly groupBy: 'model' | 'project' | 'key' | 'member' | 'attribution' | null
  /** The number of groups that are told apart, the costliest first; all others are put together as one. */
  readonly top: number
}

/** Sums of one group, one for each bucket or of the whole time. */
export type Sums = Omit<UsageRow, 'startMs' | 'group'>

export type SeriesGroup = {
  /** A key, project, member or model, or to whom requests are attributed; null for all others together, for those of nobody, and where nothing is grouped. */
  readonly id: string | null
  /** The id where the reader may not see what it is the name of. */
  readonly name: string
  readonly isOthers: boolean
  readonly total: Sums
  readonly buckets: readonly Sums[]
}

export type Series = {
  readonly startsMs: readonly number[]
  readonly groups: readonly SeriesGroup[]
  readonly total: Sums
}

/** What is counted of requests, in the order in which it is shown. */
export const countNames = ['requests', 'finished', 'aborted', 'failed', 'unpriced'] as const

/** What is counted of tokens, in the order in which it is shown. */
export const tokenNames = [
  'inputUncached',
  'inputCacheRead',
  'inputCacheWrite',
  'inputCacheWriteLong',
  'output',
  'outputThinking',
] as const

/** More buckets than this are no chart. */
export const bucketsMax = 2_200
/** Ten years. Each day that is cut takes some microseconds, for which everybody waits. */
const spanMsMax = 3_660 * dayMs

export class TooManyBuckets extends Error {
  override readonly name = 'TooManyBuckets'
}

export class TooLongTime extends Error {
  override readonly name = 'TooLongTime'
}

/** What the principal may see of an organization's usage, cut into the hours, days, weeks or months of a zone. */
export async function readSeries(db: Database, principal: Principal, query: SeriesQuery): Promise<Series> {
  const projectIds = narrowProjects(principal, 'usage:read', query)
  const seen = { ...query, ...(projectIds !== undefined && { projectIds }) }
  if (query.toMs - query.fromMs > spanMsMax) throw new TooLongTime('Ten years are the most that can be asked for.')
  const startsMs = bucketStarts(query)
  if (startsMs.length > bucketsMax) throw new TooManyBuckets(`${startsMs.length} are more than ${bucketsMax} buckets.`)
  const rows = await readRows(db, seen, startsMs)
  const owners = query.groupBy === 'member' ? await readOwners(db, query.organizationId) : null
  const byGroup = Map.groupBy(rows, ({ group }) =>
    owners === null ? group || null : (owners.get(group ?? '') ?? null),
  )
  const sums = [...byGroup].map(([id, own]) => ({ id, total: addUp(own), rows: own }))
  const sorted = sums.toSorted((one, other) => compare(other.total, one.total))
  const [shown, others] = [sorted.slice(0, query.top), sorted.slice(query.top)]
  const ids = shown.map(({ id }) => id)
  const names = await readNames(db, principal, query, ids)
  const groups = shown.map(({ id, total, rows: own }): SeriesGroup => {
    const name = names.get(id ?? '') ?? id ?? nameOfNone(query)
    return { id, name, isOthers: false, total, buckets: spread(startsMs, own) }
  })
  const rest = others.flatMap(({ rows: own }) => own)
  const other = { id: null, name: 'Others', isOthers: true, total: addUp(rest), buckets: spread(startsMs, rest) }
  return { startsMs, groups: rest.length > 0 ? [...groups, other] : groups, total: addUp(rows) }
}

function nameOfNone({ groupBy, attributed }: SeriesQuery): string {
  if (groupBy === null) return 'All'
  if (groupBy === 'member') return 'Without an owner'
  return attributed?.dimension === 'user' ? 'Without an end user' : 'Without this tag'
}

async function readRows(db: Database, query: SeriesQuery, startsMs: readonly number[]): Promise<readonly UsageRow[]> {
  const { bucket } = query
  const groupBy = query.groupBy === 'member' ? 'key' : query.groupBy
  if (bucket !== 'hour') return readZoneRows(db, { ...query, groupBy }, startsMs)
  const [rows = []] = await queryUsageTogether(db, [{ ...query, bucket, groupBy }])
  return rows
}

/** The member who owns each key. */
async function readOwners(db: Database, organizationId: OrganizationId): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('api_keys')
    .select(['id', 'owner_id'])
    .where('organization_id', '=', organizationId)
    .where('owner_id', 'is not', null)
    .execute()
  return new Map(rows.map(({ id, owner_id }) => [id, owner_id ?? '']))
}

const named = {
  key: { table: 'api_keys', permission: 'api-keys:read' },
  project: { table: 'projects', permission: 'projects:read' },
  member: { table: 'members', permission: 'members:read' },
} as const

/** By id, what groups are called; none for who sees usage and not what it is of. */
async function readNames(
  db: Database,
  principal: Principal,
  { groupBy, organizationId }: SeriesQuery,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const known = ids.filter((id) => id !== null)
  if (groupBy === null || groupBy === 'model' || groupBy === 'attribution' || known.length === 0) return new Map()
  const { table, permission } = named[groupBy]
  if (seenProjects(principal, permission, organizationId) === undefined) return new Map()
  const rows = await db
    .selectFrom(table)
    .select(['id', 'name'])
    .where('organization_id', '=', organizationId)
    .where('id', 'in', known as never[])
    .execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** A row of an hour or a day counts in the last bucket that begins no later. */
function spread(startsMs: readonly number[], rows: readonly UsageRow[]): readonly Sums[] {
  const buckets = startsMs.map((): UsageRow[] => [])
  const sorted = rows.toSorted((one, other) => (one.startMs ?? 0) - (other.startMs ?? 0))
  let index = 0
  for (const row of sorted) {
    while ((startsMs[index + 1] ?? Infinity) <= (row.startMs ?? 0)) index += 1
    buckets[index]?.push(row)
  }
  return buckets.map(addUp)
}

/** In one pass: a year of many keys by the day is tens of thousands of sums. */
function addUp(rows: readonly Sums[]): Sums {
  const total = emptySums()
  for (const row of rows) {
    for (const name of countNames) total[name] += row[name]
    for (const name of tokenNames) total.usage[name] += row.usage[name]
    total.reversed += row.reversed
    total.costPicos += row.costPicos
  }
  return total
}

type Adding = { -readonly [Name in Exclude<keyof Sums, 'usage'>]: Sums[Name] } & {
  readonly usage: { -readonly [Name in keyof Sums['usage']]: number }
}

function emptySums(): Adding {
  return {
    requests: 0,
    finished: 0,
    aborted: 0,
    failed: 0,
    reversed: 0,
    unpriced: 0,
    usage: { ...zeroUsage },
    costPicos: 0n,
  }
}

/** By cost, and by requests where there are no prices. */
function compare(one: Sums, other: Sums): number {
  if (one.costPicos !== other.costPicos) return one.costPicos < other.costPicos ? -1 : 1
  return one.requests - other.requests
}

type ZoneQuery = UsageFilter & Pick<UsageQuery, 'groupBy'> & { readonly toMs: number }

type Plan = {
  /** Where the whole sum of a day of UTC counts, by the day's beginning. */
  readonly days: ReadonlyMap<number, number>
  /** Hours of those days that count elsewhere than their day does. */
  readonly moved: ReadonlySet<number>
  /** Hours of all other days. */
  readonly single: ReadonlySet<number>
}

/**
 * Sums for days, weeks or months that begin at any whole hour. Each row lies in the bucket in which it counts.
 *
 * A year by the hour is half a million sums where there are many keys. So the sums of days of UTC are taken, of which
 * there are few, and of a day in which a bucket begins the hours on the shorter side of that are moved: they count once
 * where they belong, and once less where their day counts. The days and the hours are of the same moment.
 */
async function readZoneRows(db: Database, query: ZoneQuery, startsMs: readonly number[]): Promise<readonly UsageRow[]> {
  const { days, moved, single } = planRows(query, startsMs)
  const from = Math.min(...days.keys())
  const to = Math.max(...days.keys()) + dayMs
  const ofDays = { ...query, bucket: 'day', fromMs: from, toMs: to } as const
  const ofHours = { ...query, bucket: 'hour', hoursMs: [...moved, ...single] } as const
  const [hourRows = [], dayRows = []] = await queryUsageTogether(db, days.size === 0 ? [ofHours] : [ofHours, ofDays])
  const placed = dayRows.flatMap((row) => {
    const startMs = days.get(row.startMs ?? 0)
    return startMs === undefined ? [] : [{ ...row, startMs }]
  })
  const away = hourRows
    .filter(({ startMs }) => moved.has(startMs ?? 0))
    .map((row) => negate({ ...row, startMs: days.get(floorDay(row.startMs ?? 0)) ?? null }))
  return [...placed, ...hourRows, ...away]
}

function planRows({ fromMs, toMs }: ZoneQuery, startsMs: readonly number[]): Plan {
  const days = new Map<number, number>()
  const moved = new Set<number>()
  const single = new Set<number>()
  const beginnings = Map.groupBy(
    startsMs.filter((startMs) => startMs % dayMs !== 0),
    floorDay,
  )
  for (let day = floorDay(fromMs); day < toMs; day += dayMs) {
    const [begins, ...more] = beginnings.get(day) ?? []
    const isWhole = day >= fromMs && day + dayMs <= toMs
    if (!isWhole || more.length > 0) {
      for (const hour of hoursBetween(Math.max(day, fromMs), Math.min(day + dayMs, toMs))) single.add(hour)
      continue
    }
    const isEarly = begins !== undefined && begins - day <= dayMs / 2
    days.set(day, isEarly ? begins : day)
    if (begins === undefined) continue
    for (const hour of isEarly ? hoursBetween(day, begins) : hoursBetween(begins, day + dayMs)) moved.add(hour)
  }
  return { days, moved, single }
}

function hoursBetween(fromMs: number, toMs: number): readonly number[] {
  return Array.from({ length: (toMs - fromMs) / hourMs }, (_, index) => fromMs + index * hourMs)
}

function floorDay(ms: number): number {
  return Math.floor(ms / dayMs) * dayMs
}

function negate({ startMs, group, usage, costPicos, ...counts }: UsageRow): UsageRow {
  const negative = <Fields extends Readonly<Record<string, number>>>(fields: Fields) =>
    Object.fromEntries(Object.entries(fields).map(([name, count]) => [name, -count])) as Fields
  return { startMs, group, ...negative(counts), usage: negative(usage), costPicos: -costPicos }
}
