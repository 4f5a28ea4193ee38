// What is told since somebody should look at it: keys that end soon, requests that fail on our side, an hour that costs
// far more than such hours do. Each cause is told once, by whichever gateway finds it first, and stands in the list of what
// was told also where no channel asks for it.

import { sql } from 'kysely'
import { forgottenNetwork } from '../accounts/access/key-uses.ts'
import { domainGraceMs } from '../accounts/single-sign-on/domains.ts'
import { fromCostColumns } from '../billing/ledger/cost-columns.ts'
import { minuteMs } from '../billing/refusals/minute.ts'
import { hourMs, dayMs } from '../billing/usage/usage-columns.ts'
import { toMicrosText } from '../core/money.ts'
import type { OrganizationId } from '../core/ids.ts'
import { type AlertParts, raise } from './append-event.ts'
import { lookBackMs, readTold } from './sources.ts'

async function listOrganizations({ db }: AlertParts): Promise<readonly OrganizationId[]> {
  const rows = await db
    .selectFrom('organizations')
    .select('id')
    .where('disabled_at', 'is', null)
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** So many days before its end a key is told of, the most urgent first. */
const keyDays = [3, 14] as const

/** Tells of keys that end soon, once for each of these times. */
export async function tellKeyEnds(parts: AlertParts): Promise<void> {
  const nowMs = parts.clock.nowMs()
  for (const organizationId of await listOrganizations(parts)) {
    const keys = await parts.db
      .selectFrom('api_keys')
      .select(['id', 'name', 'expires_at'])
      .where('organization_id', '=', organizationId)
      .where('revoked_at', 'is', null)
      .where('disabled_at', 'is', null)
      .where('expires_at', '>', nowMs)
      .where('expires_at', '<=', nowMs + Math.max(...keyDays) * dayMs)
      .orderBy('expires_at')
      .execute()
    const told = keys.length === 0 ? new Set() : await readCauses(parts, organizationId)
    for (const { id, name, expires_at: endMs } of keys) {
      const days = endMs === null ? undefined : keyDays.find((count) => endMs <= nowMs + count * dayMs)
      const cause = `${id}:${endMs}:${days}`
      if (endMs === null || days === undefined || told.has(cause)) continue
      const data = { apiKeyId: id, name, endsAt: new Date(endMs).toISOString(), withinDays: days }
      await raise(parts, { organizationId, topic: 'key.ending', cause, windowMs: null, data })
    }
  }
}

/** Those of weeks ago as well: a key is told of fourteen days before its end. */
async function readCauses({ db }: AlertParts, organizationId: OrganizationId): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('alert_causes')
    .select('cause')
    .where('organization_id', '=', organizationId)
    .where('topic', '=', 'key.ending')
    .execute()
  return new Set(rows.map(({ cause }) => cause))
}

/** Tells of domains whose record is gone: once when it is, and once when the domain counts for nothing because of that. */
export async function tellDomains(parts: AlertParts): Promise<void> {
  const rows = await parts.db
    .selectFrom('domains')
    .select(['id', 'organization_id as organizationId', 'name', 'verified_at', 'missing_since as missingSinceMs'])
    .where('missing_since', 'is not', null)
    .orderBy('id')
    .execute()
  for (const { id, organizationId, name, verified_at, missingSinceMs } of rows) {
    if (missingSinceMs === null) continue
    const isVerified = verified_at !== null
    const missingSince = new Date(missingSinceMs).toISOString()
    const lapsesAt = new Date(missingSinceMs + domainGraceMs).toISOString()
    await raise(parts, {
      organizationId,
      topic: 'domain.record-missing',
      cause: `${id}:${missingSinceMs}:${isVerified ? 'missing' : 'lapsed'}`,
      windowMs: null,
      data: { domainId: id, domain: name, isVerified, missingSince, lapsesAt },
    })
  }
}

/** In its first day of use a key shows where it is used from. */
const learningMs = dayMs

/**
 * Tells of a key that is used from a network it was not used from before. One that may be used from some addresses alone is
 * not told of: where it may be used from was said already.
 */
export async function tellNewNetworks(parts: AlertParts): Promise<void> {
  const rows = await parts.db
    .selectFrom('key_networks')
    .innerJoin('api_keys', 'api_keys.id', 'key_networks.api_key_id')
    .select(['key_networks.organization_id as organizationId', 'api_key_id as apiKeyId', 'name', 'network'])
    .select('first_used_at as firstUsedMs')
    .where('first_used_at', '>=', parts.clock.nowMs() - lookBackMs)
    .where('network', '<>', forgottenNetwork)
    .where('allowed_addresses', 'is', null)
    .where('revoked_at', 'is', null)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('key_networks as earlier')
          .select('earlier.network')
          .whereRef('earlier.api_key_id', '=', 'key_networks.api_key_id')
          .where(sql<boolean>`earlier.first_used_at <= key_networks.first_used_at - ${learningMs}`),
      ),
    )
    .orderBy('first_used_at')
    .orderBy('network')
    .execute()
  for (const { organizationId, firstUsedMs, ...data } of rows) {
    await raise(parts, {
      organizationId,
      topic: 'key.new-network',
      cause: `${data.apiKeyId}:${data.network}:${firstUsedMs}`,
      windowMs: null,
      data: { ...data, firstUsedAt: new Date(firstUsedMs).toISOString() },
    })
  }
}

const failingMs = 300_000
/** One request that fails among a few is no sign of anything. */
const failedMin = 5
const failedShareMin = 0.05
const failingWindowMs = hourMs

/**
 * Tells that requests fail on our side, while they do and once an hour at most. They count when they became known: what
 * failed while the database was away is told when it is back.
 */
export async function tellFailing(parts: AlertParts): Promise<void> {
  const toMs = parts.clock.nowMs()
  // Whole minutes, in which requests are counted: one that has begun before counts as well.
  const fromMs = toMs - failingMs - ((toMs - failingMs) % minuteMs)
  const counts = await countFailures(parts, fromMs)
  const isFailing = ({ requests, failed }: Failures) => failed >= failedMin && failed >= requests * failedShareMin
  if (!counts.values().some(isFailing)) return
  for (const organizationId of await listOrganizations(parts)) {
    const found = counts.get(organizationId)
    if (found === undefined || !isFailing(found)) continue
    const data = { ...found, from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() }
    const cause = 'failing'
    await raise(parts, { organizationId, topic: 'requests.failing', cause, windowMs: failingWindowMs, data })
  }
}

type Failures = { readonly requests: number; readonly failed: number }

/**
 * The requests that became known since a moment, as availability counts them: without those that their callers have made
 * fail, and with those that were turned away by the service's fault and have no row in the ledger. One that is slow has not
 * failed. Forgets those of before.
 */
async function countFailures({ db }: AlertParts, fromMs: number): Promise<ReadonlyMap<OrganizationId, Failures>> {
  await db.deleteFrom('known_minutes').where('at', '<', fromMs).execute()
  const rows = await db
    .selectFrom('known_minutes')
    .select('organization_id')
    .select(sql<number>`cast(sum(requests) as bigint)`.as('requests'))
    .select(sql<number>`cast(sum(failed) as bigint)`.as('failed'))
    .where('at', '>=', fromMs)
    .groupBy('organization_id')
    .execute()
  return new Map(rows.map(({ organization_id, ...own }) => [organization_id, own]))
}

const usualDays = 7
/** An hour that costs more than so many times what an hour in use has cost is unusual. */
const timesUsual = 3
/** Of fewer hours nobody can say what is usual. */
const usualHoursMin = 24
/** A request counts in the hour in which it ends, and its row is there, and added up, a little later. */
const settledAfterMs = 300_000

/**
 * Tells of hours that are over and have cost far more than the hours of the week before each in which anything was asked.
 * The hours of a day are looked at, since their rows may come as late as the database was away.
 */
export async function tellCosts(parts: AlertParts): Promise<void> {
  const settledMs = parts.clock.nowMs() - settledAfterMs
  const toMs = settledMs - (settledMs % hourMs)
  for (const organizationId of await listOrganizations(parts)) {
    const range = { fromMs: toMs - lookBackMs - usualDays * dayMs, toMs }
    const unusual = findUnusual(await readHourCosts(parts, organizationId, range), toMs - lookBackMs)
    const told = unusual.length === 0 ? new Set() : await readTold(parts, organizationId, 'cost.unusual')
    for (const { at, picos, usualPicos } of unusual) {
      if (told.has(String(at))) continue
      const data = {
        hour: new Date(at).toISOString(),
        costMicros: toMicrosText(picos),
        usualCostMicros: toMicrosText(usualPicos),
      }
      await raise(parts, { organizationId, topic: 'cost.unusual', cause: String(at), windowMs: null, data })
    }
  }
}

/** The hours from a moment on that cost far more than those in use of the week before them. */
function findUnusual(
  hours: readonly HourCost[],
  fromMs: number,
): readonly (HourCost & { readonly usualPicos: bigint })[] {
  return hours.flatMap((hour) => {
    if (hour.at < fromMs) return []
    const before = hours.filter(({ at }) => at < hour.at && at >= hour.at - usualDays * dayMs)
    if (before.length < usualHoursMin) return []
    const sum = before.reduce((all, { picos }) => all + picos, 0n)
    const count = BigInt(before.length)
    return hour.picos * count > BigInt(timesUsual) * sum ? [{ ...hour, usualPicos: sum / count }] : []
  })
}

type HourCost = { readonly at: number; readonly picos: bigint }

async function readHourCosts(
  { db }: AlertParts,
  organizationId: OrganizationId,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<readonly HourCost[]> {
  const rows = await db
    .selectFrom('usage_hours')
    .select('at')
    .select(sql<number>`cast(sum(cost_micros) as bigint)`.as('cost_micros'))
    .select(sql<number>`cast(sum(cost_rest_picos) as bigint)`.as('cost_rest_picos'))
    .where('organization_id', '=', organizationId)
    .where('at', '>=', fromMs)
    .where('at', '<', toMs)
    .groupBy('at')
    .orderBy('at')
    .execute()
  return rows.map((row) => ({ at: Number(row.at), picos: fromCostColumns(row) ?? 0n }))
}
