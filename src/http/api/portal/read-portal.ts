import type { z } from 'zod'
import { listBudgets } from '../../../limits/settings/budget-settings.ts'
import { raisedMax } from '../../../limits/settings/setting.ts'
import { readBudgetUse } from '../../../inference/read-spent.ts'
import { findPriceCourse } from '../../../billing/prices/price-course.ts'
import { readPrices } from '../../../billing/prices/prices.ts'
import { queryUsage, type UsageRow } from '../../../billing/usage/query-usage.ts'
import type { LedgerCursor } from '../../../billing/ledger/ledger-scan.ts'
import { listLedger, type LedgerPage } from '../../../billing/ledger/list-ledger.ts'
import type { LedgerRow } from '../../../billing/ledger/read-ledger.ts'
import { fromCostColumns } from '../../../billing/ledger/cost-columns.ts'
import { fromRuleColumns } from '../../../accounts/key-rules.ts'
import { inputTokens } from '../../../core/generation.ts'
import { toMicrosText } from '../../../core/money.ts'
import { modelIds } from '../../../core/model.ts'
import type { ApiKeyPrincipal } from '../../../core/principal.ts'
import type { RouteParts } from '../route.ts'
import { toTime, toTimeOrNull } from '../schemas.ts'
import type { portalAnswer, portalRequest, portalUsage } from './portal-schemas.ts'
import type { PortalSession } from './portal-session.ts'

/** The portal has let somebody in by the key: what is read below is of that key alone. */
const onBehalf = { kind: 'operator' } as const
const dayMs = 24 * 60 * 60 * 1_000
const daysShown = 30

/** What the owner of a key may know of it. */
export async function describePortal(
  parts: RouteParts,
  { access: { principal }, endsAtMs }: PortalSession,
): Promise<z.input<typeof portalAnswer>> {
  const { accounts, management } = parts
  const row = await accounts.db
    .selectFrom('api_keys')
    .innerJoin('organizations', 'organizations.id', 'api_keys.organization_id')
    .innerJoin('projects', 'projects.id', 'api_keys.project_id')
    .select(['api_keys.id as id', 'api_keys.name as name', 'last_four', 'api_keys.created_at as createdAt'])
    .select(['expires_at', 'allowed_models', 'allowed_endpoints', 'allowed_addresses', 'api_keys.priority as priority'])
    .select(['organizations.name as organizationName', 'projects.name as projectName'])
    .where('api_keys.id', '=', principal.apiKeyId)
    .executeTakeFirstOrThrow()
  const { expiresAtMs, models, endpoints, addresses } = fromRuleColumns(row)
  return {
    key: {
      id: row.id,
      name: row.name,
      lastFour: row.last_four,
      createdAt: toTime(Number(row.createdAt)),
      endsAt: toTimeOrNull(expiresAtMs),
      models: models === null ? null : [...models],
      endpoints: endpoints === null ? null : [...endpoints],
      addresses: addresses === null ? null : [...addresses],
    },
    organizationName: row.organizationName,
    projectName: row.projectName,
    limits: readLimits(management, principal),
    budgets: await readBudgets(parts, principal),
    currency: accounts.currency,
    prices: await readOwnPrices(parts, principal),
    endsAt: toTime(endsAtMs),
  }
}

/** Those for all models together, and those of each. Whose they are is told by kind, and not by name. */
function readLimits({ readLimitStanding }: RouteParts['management'], principal: ApiKeyPrincipal) {
  const all = [null, ...modelIds].flatMap((model) => readLimitStanding(principal, model))
  const unique = new Map(all.map((one) => [`${one.subject.kind} ${one.model} ${one.kind} ${one.setBy}`, one]))
  return [...unique.values()].map(({ subject, setBy: _, ...standing }) => ({ of: subject.kind, ...standing }))
}

async function readBudgets({ accounts }: RouteParts, { organizationId, apiKeyId, quotaId }: ApiKeyPrincipal) {
  const all = await listBudgets(accounts, onBehalf, organizationId)
  const own = all.filter(({ subject }) => subject.kind === 'api-key' && [apiKeyId, quotaId].includes(subject.id))
  return Promise.all(
    own.map(async (budget) => {
      const { range, spent, raise } = await readBudgetUse(accounts.db, budget, accounts.clock.nowMs())
      const inForce = { ...budget, raise }
      return {
        period: budget.period,
        microsMax: raisedMax(inForce, 'microsMax'),
        tokensMax: raisedMax(inForce, 'tokensMax'),
        raisedUntil: raise === null ? null : toTime(raise.untilMs),
        spent,
        periodEndsAt: range.beforeMs === Infinity ? null : toTime(range.beforeMs),
      }
    }),
  )
}

/** What the key's requests cost: the general price and the organization's own are worked into one. */
async function readOwnPrices({ accounts }: RouteParts, { organizationId }: ApiKeyPrincipal) {
  const nowMs = accounts.clock.nowMs()
  const prices = await readPrices(accounts.db, accounts.currency)
  return modelIds.map((model) => {
    const { current, announced } = findPriceCourse(prices, { organizationId, model, nowMs })
    return {
      model,
      current: current?.rates ? { rates: current.rates, since: toTime(current.fromMs) } : null,
      announced: announced.map(({ rates, fromMs }) => ({ rates, from: toTime(fromMs) })),
    }
  })
}

/** The last thirty days of the key, by the day. */
export async function readPortalUsage(
  { accounts: { db, clock } }: RouteParts,
  { organizationId, apiKeyId }: ApiKeyPrincipal,
): Promise<z.input<typeof portalUsage>> {
  const fromMs = (Math.floor(clock.nowMs() / dayMs) - daysShown + 1) * dayMs
  const filter = { organizationId, apiKeyIds: [apiKeyId], fromMs, toMs: null, groupBy: null, cursor: null }
  const [{ rows }, whole] = await Promise.all([
    queryUsage(db, { ...filter, bucket: 'day', limit: daysShown }),
    queryUsage(db, { ...filter, bucket: 'whole', limit: 1 }),
  ])
  const byStart = new Map(rows.map((row) => [row.startMs, row]))
  const days = Array.from({ length: daysShown }, (_, index) => {
    const startMs = fromMs + index * dayMs
    return { startsAt: toTime(startMs), ...showSums(byStart.get(startMs)) }
  })
  return { days, totals: showSums(whole.rows[0]) }
}

function showSums(row: UsageRow | undefined) {
  return {
    requests: row?.requests ?? 0,
    failed: row?.failed ?? 0,
    inputTokens: row === undefined ? 0 : inputTokens(row.usage),
    outputTokens: row?.usage.output ?? 0,
    costMicros: toMicrosText(row?.costPicos ?? 0n),
  }
}

type Part = { readonly after: LedgerCursor | null; readonly limit: number; readonly fromMs?: number }

/** Rows of the key's requests, newest first; nothing of their content is kept anywhere. */
export function readPortalRequests(
  { accounts: { db } }: RouteParts,
  { organizationId, apiKeyId }: ApiKeyPrincipal,
  part: Part,
): Promise<LedgerPage> {
  return listLedger(db, onBehalf, { organizationId, apiKeyId, ...part })
}

export function showPortalRequest(row: LedgerRow): z.input<typeof portalRequest> {
  const picos = fromCostColumns(row)
  return {
    requestId: row.request_id,
    kind: row.kind,
    at: toTime(row.at),
    model: row.model,
    outcome: row.outcome,
    reason: row.reason,
    inputTokens: row.input_uncached + row.input_cache_read + row.input_cache_write,
    cachedTokens: row.input_cache_read,
    outputTokens: row.output,
    durationMs: row.duration_ms,
    costMicros: picos === null ? null : toMicrosText(picos),
  }
}
