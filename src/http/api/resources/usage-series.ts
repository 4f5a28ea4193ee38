import { z } from 'zod'
import type { AccountsParts } from '../../../accounts/parts.ts'
import { readRefusals } from '../../../billing/refusals/read-refusals.ts'
import { dayMs, hourMs } from '../../../billing/usage/usage-columns.ts'
import {
  countNames,
  readSeries,
  tokenNames,
  TooLongTime,
  TooManyBuckets,
  type Series,
  type SeriesQuery,
  type Sums,
} from '../../../billing/usage/usage-series.ts'
import { bucketKinds, UnusableZone } from '../../../billing/usage/zone-buckets.ts'
import { toMicrosText } from '../../../core/money.ts'
import { may } from '../../../core/permission.ts'
import { exportFormat, exportName, writeExport } from '../export.ts'
import { InvalidFields } from '../problem.ts'
import { defineRoute, type Call, type Route } from '../route.ts'
import { apiKeyId, costMicros, given, givenTime, inOrganization, model, projectId, time, toTime } from '../schemas.ts'
import { attributionFields, readAttribution, readHour, toGrouping } from './usage.ts'

const filter = z.strictObject({
  from: givenTime.optional().describe('A whole hour; thirty days ago where it is not given.'),
  to: givenTime.optional().describe('A whole hour, which is left out; the end of this one where it is not given.'),
  bucket: z.enum(bucketKinds).default('day').describe('Weeks begin on Monday.'),
  zone: z.string().min(1).max(64).default('UTC').describe('An IANA time zone whose hours begin with those of UTC.'),
  groupBy: z.enum(['model', 'project', 'key', 'member', 'user', 'tag']).optional(),
  top: z.int().min(1).max(50).default(8).describe('So many groups stand alone, the others are one.'),
  projectId: z.array(projectId).max(50).optional(),
  apiKeyId: z.array(apiKeyId).max(50).optional(),
  model: z.array(model).max(50).optional(),
  ...attributionFields,
})
const query = filter.extend({
  previous: z
    .enum(['true', 'false'])
    .default('false')
    .describe(
      'Whether to sum up the time of equal length before; of one that is not over as much of it as has passed, the hour that is running as a whole one.',
    ),
})
type Filter = z.output<typeof filter>

const perGroup = <Item extends z.ZodType>(item: Item) => z.array(z.array(item))
const counts = perGroup(z.int())

const sums = z
  .strictObject({
    requests: z.int(),
    finished: z.int(),
    aborted: z.int(),
    failed: z.int(),
    unpriced: z.int(),
    tokens: z.strictObject(Object.fromEntries(tokenNames.map((name) => [name, z.int()]))),
    costMicros,
  })
  .meta({ id: 'UsageSums' })

const groupName = z
  .string()
  .describe('The id for who may not see keys, members or projects, as far as it is one of these.')

const series = z
  .strictObject({
    zone: z.string(),
    startsAt: z.array(time).describe('The beginning of each bucket.'),
    groups: z
      .array(z.strictObject({ id: z.string().nullable(), name: groupName, isOthers: z.boolean(), totals: sums }))
      .describe('The costliest first. All others together are the last one; its id is null.'),
    requests: counts.describe('Like all that follow: a list for each group, with a number for each bucket.'),
    finished: counts,
    aborted: counts,
    failed: counts,
    unpriced: counts,
    tokens: z.strictObject(Object.fromEntries(tokenNames.map((name) => [name, counts]))),
    costMicros: perGroup(costMicros),
    refused: z
      .array(z.int())
      .nullable()
      .describe('Refused requests of the organization by bucket; null for who may not see them, and with a filter.'),
    totals: sums,
    previous: sums.nullable(),
    through: time.describe('Until when requests are counted.'),
    reconciledAt: time.nullable().describe('When the sums were last compared with the ledger.'),
    isReconciled: z.boolean().nullable().describe('Whether they were equal.'),
  })
  .meta({ id: 'UsageSeries' })

type Asking = Pick<
  Call<{ organizationId: SeriesQuery['organizationId'] }, unknown, unknown>,
  'parts' | 'principal' | 'params'
>

function toQuery({ parts, params }: Asking, asked: Filter): SeriesQuery {
  const nowMs = parts.accounts.clock.nowMs()
  const fromMs = readHour('from', asked.from) ?? Math.floor((nowMs - 30 * dayMs) / dayMs) * dayMs
  const toMs = readHour('to', asked.to) ?? Math.floor(nowMs / hourMs + 1) * hourMs
  if (toMs <= fromMs) throw new InvalidFields([{ path: 'to', message: 'This must be later than from.' }])
  const { bucket, zone, top } = asked
  const { organizationId } = params
  const attributed = readAttribution(asked, organizationId, parts.management.hashEndUser)
  const filters = given({ projectIds: asked.projectId, apiKeyIds: asked.apiKeyId, models: asked.model })
  const ofWhom = { groupBy: toGrouping(asked.groupBy), ...(attributed !== null && { attributed }) }
  return { organizationId, fromMs, toMs, bucket, zone, top, ...ofWhom, ...filters }
}

/** A part of a day would else be held against the whole of another. Sums are by the hour, so the part is in whole ones. */
function timeBefore(wanted: SeriesQuery, nowMs: number): SeriesQuery {
  const lengthMs = wanted.toMs - wanted.fromMs
  const passedMs = Math.ceil((nowMs - wanted.fromMs) / hourMs) * hourMs
  const fromMs = wanted.fromMs - lengthMs
  const comparedMs = passedMs > 0 ? Math.min(lengthMs, passedMs) : lengthMs
  return { ...wanted, fromMs, toMs: fromMs + comparedMs, bucket: 'month' }
}

async function readAsked({ parts, principal }: Asking, wanted: SeriesQuery): Promise<Series> {
  try {
    return await readSeries(parts.accounts.db, principal, wanted)
  } catch (error) {
    if (error instanceof UnusableZone) throw new InvalidFields([{ path: 'zone', message: error.message }])
    if (error instanceof TooLongTime) throw new InvalidFields([{ path: 'from', message: error.message }])
    if (error instanceof TooManyBuckets) throw new InvalidFields([{ path: 'bucket', message: error.message }])
    throw error
  }
}

function showSums({ usage, costPicos, ...rest }: Sums): z.input<typeof sums> {
  const own = Object.fromEntries(countNames.map((name) => [name, rest[name]])) as Record<
    (typeof countNames)[number],
    number
  >
  const tokens = Object.fromEntries(tokenNames.map((name) => [name, usage[name]]))
  return { ...own, tokens, costMicros: toMicrosText(costPicos) }
}

const path = '/api/v1/organizations/{organizationId}/usage'

export const usageSeriesRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: `${path}/series`,
    permission: 'usage:read',
    scope: 'organization',
    summary: 'Sum up requests, tokens and cost by the hour, day, week or month of a time zone, as columns for a chart',
    params: inOrganization,
    query,
    answer: series,
    async work({ parts, principal, params, query: asked }) {
      const asking = { parts, principal, params }
      const wanted = toQuery(asking, asked)
      const { startsMs, groups, total } = await readAsked(asking, wanted)
      const column = <Value>(read: (row: Sums) => Value) => groups.map(({ buckets }) => buckets.map(read))
      const nowMs = parts.accounts.clock.nowMs()
      const counted = Object.fromEntries(countNames.map((name) => [name, column((row) => row[name])]))
      return {
        zone: wanted.zone,
        startsAt: startsMs.map(toTime),
        groups: groups.map(({ id, name, isOthers, total: own }) => ({ id, name, isOthers, totals: showSums(own) })),
        ...(counted as Record<(typeof countNames)[number], number[][]>),
        tokens: Object.fromEntries(tokenNames.map((name) => [name, column(({ usage }) => usage[name])])),
        costMicros: column(({ costPicos }) => toMicrosText(costPicos)),
        refused: await countRefused(asking, wanted, startsMs),
        totals: showSums(total),
        previous:
          asked.previous === 'true' ? showSums((await readAsked(asking, timeBefore(wanted, nowMs))).total) : null,
        through: toTime(Math.min(wanted.toMs, nowMs)),
        ...(await readReconciliation(parts.accounts)),
      }
    },
  }),
  defineRoute({
    method: 'GET',
    path: `${path}/export`,
    permission: 'usage:read',
    scope: 'organization',
    summary: 'Save the same as CSV or JSON lines, a line for each bucket and group',
    params: inOrganization,
    query: filter.extend({ format: exportFormat.default('csv') }),
    answer: 'export',
    async work({ parts, principal, params, query: { format, ...asked } }) {
      const asking = { parts, principal, params }
      const wanted = toQuery(asking, { ...asked, top: 50 })
      const { startsMs, groups } = await readAsked(asking, wanted)
      const lines = groups.flatMap(({ id, name, buckets }) =>
        buckets.flatMap((bucket, index) => {
          const { tokens, ...rest } = showSums(bucket)
          const { requests, reversed } = bucket
          // A bucket may hold nothing but reversals of requests of another one: its cost is part of the sum.
          if (requests === 0 && reversed === 0) return []
          const startsAt = toTime(startsMs[index] ?? 0)
          return [{ startsAt, groupId: id, groupName: name, ...rest, reversed, ...tokens }]
        }),
      )
      const columns = ['startsAt', 'groupId', 'groupName', ...countNames, 'reversed', 'costMicros', ...tokenNames]
      return writeExport(format, { name: fileName(wanted), columns, pages: onePage(lines) })
    },
  }),
]

/** What is in the file stands in its name. */
function fileName(wanted: SeriesQuery): string {
  const { organizationId, fromMs, toMs, zone, bucket, groupBy } = wanted
  const [from, to] = [fromMs, toMs].map((ms) => toTime(ms).slice(0, 13).replace('T', '-'))
  const group = groupBy === null ? '' : `_by-${groupBy}`
  const time = `${from}_${to}_${zone.replaceAll('/', '-')}_${bucket}`
  const { models: model, projectIds: project, apiKeyIds: key } = wanted
  return exportName(`usage_${organizationId}_${time}${group}`, { model, project, key })
}

async function* onePage<Line>(lines: readonly Line[]): AsyncGenerator<readonly Line[]> {
  await Promise.resolve()
  yield lines
}

/** Refusals are counted by organization alone, so with a filter nobody knows them. */
async function countRefused(
  { parts, principal }: Asking,
  { organizationId, fromMs, toMs, projectIds, apiKeyIds, models, attributed }: SeriesQuery,
  startsMs: readonly number[],
): Promise<number[] | null> {
  const isFiltered = [projectIds, apiKeyIds, models, attributed].some((list) => list !== undefined)
  if (isFiltered || !may(principal, 'refusals:read', { organizationId })) return null
  const limit = 1_000_000
  const asked = { organizationId, fromMs, toMs, bucket: 'hour', limit, after: null } as const
  const rows = await readRefusals(parts.accounts.db, principal, asked)
  const refused = startsMs.map(() => 0)
  let index = 0
  for (const { startMs, requests } of rows) {
    while ((startsMs[index + 1] ?? Infinity) <= startMs) index += 1
    refused[index] = (refused[index] ?? 0) + requests
  }
  return refused
}

async function readReconciliation({ db }: AccountsParts) {
  const row = await db
    .selectFrom('reconciliations')
    .select(['at', 'is_equal'])
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (row === undefined) return { reconciledAt: null, isReconciled: null }
  return { reconciledAt: toTime(row.at), isReconciled: row.is_equal === 1 }
}
