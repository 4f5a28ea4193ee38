import { z } from 'zod'
import { countOwners } from '../../../accounts/read-member.ts'
import { percentilesOf, readNewestWaits, waitsMax } from '../../../billing/ledger/newest-waits.ts'
import { readRecentMinutes, type RecentMinute } from '../../../billing/usage/recent-minutes.ts'
import { readUsage, type UsageRow } from '../../../billing/usage/query-usage.ts'
import { dayMs, hourMs } from '../../../billing/usage/usage-columns.ts'
import type { OrganizationId } from '../../../core/ids.ts'
import { toMicrosText } from '../../../core/money.ts'
import { may, seenProjects } from '../../../core/permission.ts'
import type { Principal } from '../../../core/principal.ts'
import { listAlerts } from '../../../limits/settings/budget-alerts.ts'
import { engineStates } from '../../../core/engine.ts'
import { statusOf } from '../../../models/catalog.ts'
import { defineRoute, type Route, type RouteParts } from '../route.ts'
import { apiKeyId, costMicros, inOrganization, model, time, toTime } from '../schemas.ts'

const tile = z.strictObject({
  id: model,
  state: z.enum(engineStates),
  windowTokens: z.int(),
  running: z.int().nullable().describe('Of all organizations; null for who may not see engines.'),
  waiting: z.int().nullable(),
  firstTokenMs: z
    .strictObject({ p50: z.number(), p95: z.number() })
    .nullable()
    .describe(`Of the organization’s requests in the last hour, of each model’s newest ${waitsMax} at most.`),
})

const minute = z.strictObject({
  startsAt: time,
  requests: z.int(),
  failed: z.int(),
  aborted: z.int(),
  outputTokens: z.int(),
})
const step = z.enum(['key', 'request', 'prices', 'second-owner'])

const overview = z
  .strictObject({
    models: z.array(tile),
    minutes: z
      .array(minute)
      .describe('The last sixty, the one that runs included. None for who may not see usage, as every amount is null.'),
    costTodayMicros: costMicros.nullable(),
    costYesterdaySameTimeMicros: costMicros.nullable().describe('Until the full hour before this time of yesterday.'),
    monthMicros: costMicros.nullable(),
    forecastMicros: costMicros
      .nullable()
      .describe('For the whole month, as it went until now; null in its first fifth.'),
    openAlerts: z.int(),
    busiestKeys: z
      .array(z.strictObject({ id: apiKeyId, name: z.string(), requests: z.int(), costMicros }))
      .describe('None for who may not see keys, or usage.'),
    firstSteps: z.array(z.strictObject({ step, isDone: z.boolean() })),
  })
  .meta({ id: 'Overview' })

const minuteMs = 60_000
const minutesShown = 60

export const overviewRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/organizations/{organizationId}/overview',
    permission: 'organizations:read',
    scope: 'organization',
    summary:
      'Read how the models are and what is left to set up and, as far as the reader may see usage, what was asked and costs',
    params: inOrganization,
    answer: overview,
    async work({ parts, principal, params: { organizationId } }) {
      const asking = { parts, principal, organizationId, nowMs: parts.accounts.clock.nowMs() }
      const seesUsage = seenProjects(principal, 'usage:read', organizationId) !== undefined
      const wanted = { organizationId, fromMs: firstMinute(asking.nowMs) }
      const lastHour = seesUsage ? await readRecentMinutes(parts.accounts.db, principal, wanted) : []
      const hasRequest = lastHour.length > 0 || (await hasRequests(asking))
      return {
        models: await showModels(asking, lastHour.length > 0),
        minutes: seesUsage ? showMinutes(asking, lastHour) : [],
        ...(seesUsage ? await readCosts(asking) : noCosts),
        openAlerts: await countAlerts(asking),
        busiestKeys: seesUsage ? await readBusiestKeys(asking) : [],
        firstSteps: [
          { step: 'key' as const, isDone: await hasKey(asking) },
          { step: 'request' as const, isDone: hasRequest },
          { step: 'prices' as const, isDone: await hasPrice(asking) },
          { step: 'second-owner' as const, isDone: (await countOwners(parts.accounts, organizationId)) === 2 },
        ],
      }
    },
  }),
]

type Asking = {
  readonly parts: RouteParts
  readonly principal: Principal
  readonly organizationId: OrganizationId
  readonly nowMs: number
}

function firstMinute(nowMs: number): number {
  return Math.floor(nowMs / minuteMs) * minuteMs - (minutesShown - 1) * minuteMs
}

function showMinutes({ nowMs }: Asking, minutes: readonly RecentMinute[]): z.input<typeof minute>[] {
  const byStart = new Map(minutes.map((counts) => [counts.startMs, counts]))
  return Array.from({ length: minutesShown }, (_, index) => {
    const startMs = firstMinute(nowMs) + index * minuteMs
    const { requests = 0, failed = 0, aborted = 0, output = 0 } = byStart.get(startMs) ?? {}
    return { startsAt: toTime(startMs), requests, failed, aborted, outputTokens: output }
  })
}

function showModels(asking: Asking, hasRequests: boolean): Promise<z.input<typeof tile>[]> {
  const { parts, principal, organizationId, nowMs } = asking
  const seesEngines = may(principal, 'engines:read', { organizationId: null })
  return Promise.all(
    parts.catalog.list().map(async ({ model: { id, windowTokens }, ...lane }) => {
      const { state, running, waiting } = statusOf(lane)
      const wanted = { organizationId, model: id, fromMs: firstMinute(nowMs) }
      const waits = hasRequests ? await readNewestWaits(parts.accounts.db, principal, wanted) : []
      const counts = seesEngines ? { running, waiting } : { running: null, waiting: null }
      return { id, state, windowTokens, ...counts, firstTokenMs: percentilesOf(waits) }
    }),
  )
}

const noCosts = {
  costTodayMicros: null,
  costYesterdaySameTimeMicros: null,
  monthMicros: null,
  forecastMicros: null,
} as const

async function readCosts(asking: Asking) {
  const { nowMs } = asking
  const today = Math.floor(nowMs / dayMs) * dayMs
  const date = new Date(nowMs)
  const [month, next] = [0, 1].map((later) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later)) as [
    number,
    number,
  ]
  const sum = async (fromMs: number, toMs: number | null) => {
    const [row] = await readWhole(asking, { fromMs, toMs, groupBy: null, limit: 1 })
    return row?.costPicos ?? 0n
  }
  const monthPicos = await sum(month, null)
  const share = (nowMs - month) / (next - month)
  const forecast = BigInt(Math.round(Number(monthPicos) / share))
  const sameTime = Math.floor((nowMs - dayMs) / hourMs) * hourMs
  return {
    costTodayMicros: toMicrosText(await sum(today, null)),
    costYesterdaySameTimeMicros: toMicrosText(sameTime > today - dayMs ? await sum(today - dayMs, sameTime) : 0n),
    monthMicros: toMicrosText(monthPicos),
    forecastMicros: share < 0.2 ? null : toMicrosText((forecast / 1_000_000n) * 1_000_000n),
  }
}

type Whole = {
  readonly fromMs: number
  readonly toMs: number | null
  readonly groupBy: 'key' | null
  readonly limit: number
}

async function readWhole({ parts, principal, organizationId }: Asking, wanted: Whole): Promise<readonly UsageRow[]> {
  const query = { organizationId, ...wanted, bucket: 'whole', cursor: null } as const
  return (await readUsage(parts.accounts.db, principal, query)).rows
}

const keysMax = 10_000

async function readBusiestKeys(asking: Asking) {
  if (seenProjects(asking.principal, 'api-keys:read', asking.organizationId) === undefined) return []
  const fromMs = Math.floor(asking.nowMs / dayMs) * dayMs
  const rows = await readWhole(asking, { fromMs, toMs: null, groupBy: 'key', limit: keysMax })
  const busiest = rows.toSorted((one, other) => other.requests - one.requests).slice(0, 5)
  const ids = busiest.map(({ group }) => group as z.output<typeof apiKeyId>)
  if (ids.length === 0) return []
  const { parts, organizationId } = asking
  const named = await parts.accounts.db
    .selectFrom('api_keys')
    .select(['id', 'name'])
    .where('organization_id', '=', organizationId)
    .where('id', 'in', ids)
    .execute()
  const names = new Map<string, string>(named.map(({ id, name }) => [id, name]))
  return busiest.map(({ group, requests, costPicos }) => {
    const id = group as z.output<typeof apiKeyId>
    return { id, name: names.get(id) ?? id, requests, costMicros: toMicrosText(costPicos) }
  })
}

async function countAlerts({ parts, principal, organizationId }: Asking): Promise<number> {
  if (!may(principal, 'alerts:read', { organizationId })) return 0
  return (await listAlerts(parts.accounts, principal, { organizationId, state: 'open' })).length
}

async function hasRequests({ parts, organizationId }: Asking): Promise<boolean> {
  const row = await parts.accounts.db
    .selectFrom('ledger')
    .select('organization_id')
    .where('organization_id', '=', organizationId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** One for a program: those that stand for people's questions in the dashboard make themselves. */
async function hasKey({ parts, organizationId }: Asking): Promise<boolean> {
  const row = await parts.accounts.db
    .selectFrom('api_keys')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('kind', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

async function hasPrice({ parts }: Asking): Promise<boolean> {
  return (await parts.accounts.db.selectFrom('prices').select('id').limit(1).executeTakeFirst()) !== undefined
}
