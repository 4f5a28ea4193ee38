import type { OrganizationId } from '../../core/ids.ts'
import { narrowProjects } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { Database } from '../../db/database.ts'
import { queryUsageTogether, type UsageFilter, type UsageRow } from './query-usage.ts'
import { bucketStarts, type BucketKind } from './zone-buckets.ts'
import { readZoneRows } from './zone-rows.ts'

export type SeriesQuery = UsageFilter & {
  readonly toMs: number
  readonly bucket: BucketKind
  readonly zone: string
  readonly groupBy: 'model' | 'project' | 'key' | 'member' | null
  /** So many groups stand alone, the costliest first; the others are one. */
  readonly top: number
}

/** Sums of one group, one for each bucket or of the whole time. */
export type Sums = Omit<UsageRow, 'startMs' | 'group'>

export type SeriesGroup = {
  /** A key, project, member or model; null for all others together, and where nothing is grouped. */
  readonly id: string | null
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

export class TooManyBuckets extends Error {
  override readonly name = 'TooManyBuckets'
}

/** What the principal may see of an organization's usage, cut into the hours, days, weeks or months of a zone. */
export async function readSeries(db: Database, principal: Principal, query: SeriesQuery): Promise<Series> {
  const projectIds = narrowProjects(principal, 'usage:read', query)
  const seen = { ...query, ...(projectIds !== undefined && { projectIds }) }
  const startsMs = bucketStarts(query)
  if (startsMs.length > bucketsMax) throw new TooManyBuckets(`${startsMs.length} are more than ${bucketsMax} buckets.`)
  const rows = await readRows(db, seen, startsMs)
  const owners = query.groupBy === 'member' ? await readOwners(db, query.organizationId) : null
  const byGroup = Map.groupBy(rows, ({ group }) => (owners === null ? group : (owners.get(group ?? '') ?? null)))
  const sums = [...byGroup].map(([id, own]) => ({ id, total: addUp(own), rows: own }))
  const sorted = sums.toSorted((one, other) => compare(other.total, one.total))
  const [shown, others] = [sorted.slice(0, query.top), sorted.slice(query.top)]
  const names = await readNames(
    db,
    query,
    shown.map(({ id }) => id),
  )
  const groups = shown.map(({ id, total, rows: own }): SeriesGroup => {
    const name = names.get(id ?? '') ?? id ?? (query.groupBy === null ? 'All' : 'Without an owner')
    return { id, name, isOthers: false, total, buckets: spread(startsMs, own) }
  })
  const rest = others.flatMap(({ rows: own }) => own)
  const other = { id: null, name: 'Others', isOthers: true, total: addUp(rest), buckets: spread(startsMs, rest) }
  return { startsMs, groups: rest.length > 0 ? [...groups, other] : groups, total: addUp(rows) }
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

const tables = { key: 'api_keys', project: 'projects', member: 'members' } as const

async function readNames(
  db: Database,
  { groupBy, organizationId }: SeriesQuery,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const named = ids.filter((id) => id !== null)
  if (groupBy === null || groupBy === 'model' || named.length === 0) return new Map()
  const rows = await db
    .selectFrom(tables[groupBy])
    .select(['id', 'name'])
    .where('organization_id', '=', organizationId)
    .where('id', 'in', named as never[])
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

function addUp(rows: readonly Sums[]): Sums {
  const sum = (read: (row: Sums) => number) => rows.reduce((total, row) => total + read(row), 0)
  const counts = Object.fromEntries(countNames.map((name) => [name, sum((row) => row[name])]))
  const usage = Object.fromEntries(tokenNames.map((name) => [name, sum((row) => row.usage[name])]))
  const costPicos = rows.reduce((total, row) => total + row.costPicos, 0n)
  return {
    ...(counts as Record<(typeof countNames)[number], number>),
    reversed: sum((row) => row.reversed),
    usage: usage as Sums['usage'],
    costPicos,
  }
}

/** By cost, and by requests where there are no prices. */
function compare(one: Sums, other: Sums): number {
  if (one.costPicos !== other.costPicos) return one.costPicos < other.costPicos ? -1 : 1
  return one.requests - other.requests
}
