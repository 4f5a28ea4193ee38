import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { OrganizationId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import type { LifeSpanTable } from '../../db/tables/availability.ts'
import { minuteMs } from '../refusals/minute.ts'
import { dayMs } from '../usage/usage-columns.ts'
import { findDownTime, type DownInterval, type MinuteCounts } from './down-time.ts'
import type { Exclusion } from './exclusions.ts'
import type { Interval } from './intervals.ts'
import { readFirstSign } from './life-signs.ts'

export type ModelAvailability = {
  readonly model: string
  readonly minutes: { readonly counted: number; readonly down: number; readonly excluded: number }
  readonly requests: {
    readonly valid: number
    readonly bad: number
    /** Of the bad ones, those whose first token came too late. */
    readonly slow: number
    /** Of the bad ones, those that have no row in the ledger. */
    readonly unserved: number
  }
  /** In millionths, rounded down; null where nothing was counted. */
  readonly uptimePpm: { readonly minutes: number | null; readonly requests: number | null }
  readonly down: readonly DownInterval[]
}

export type Availability = {
  /** Whole minutes: from when on there is anything to go by, at the earliest. */
  readonly window: Interval
  readonly models: readonly ModelAvailability[]
  /** Requests that failed before their bodies were read, so that nobody knows for which model. */
  readonly unread: number
}

export type MeasureOptions = {
  readonly organizationId: OrganizationId
  readonly models: readonly string[]
  /** What is asked about; it may go on into the future. */
  readonly period: Interval
  readonly nowMs: number
  readonly downSharePpm: number
  readonly exclusions: readonly Exclusion[]
}

/** What is silent over an end of the window is as long as it is, and not as long as its part in there. */
export const marginMs = 600_000

/** Measures how available each model was to an organization. Everything in the ledger has to be rolled up. */
export async function measureAvailability(db: Database, options: MeasureOptions): Promise<Availability> {
  const found = await findWindow(db, options)
  if (found === null)
    return { window: { fromMs: options.period.fromMs, untilMs: options.period.fromMs }, models: [], unread: 0 }
  const { window, firstMs } = found
  const around = {
    fromMs: Math.max(firstMs, window.fromMs - marginMs),
    untilMs: Math.min(window.untilMs + marginMs, options.nowMs),
  }
  const spans = await readSpans(db, around)
  const { byModel, unread } = await readMinutes(db, options.organizationId, window)
  const models = options.models.map((model) => {
    const minutes = byModel.get(model) ?? new Map<number, MinuteCounts>()
    const { downSharePpm, exclusions } = options
    return measureModel(model, { window, around, spans, minutes, downSharePpm, exclusions })
  })
  return { window, models, unread }
}

/** Nothing is known of the time before the first sign of life, and nothing was promised before there was an organization. */
async function findWindow(
  db: Database,
  { organizationId, period, nowMs }: MeasureOptions,
): Promise<{ readonly window: Interval; readonly firstMs: number } | null> {
  const firstMs = await readFirstSign(db, nowMs)
  const organization = await db
    .selectFrom('organizations')
    .select('created_at')
    .where('id', '=', organizationId)
    .executeTakeFirst()
  if (firstMs === null || organization === undefined) return null
  const fromMs = Math.max(period.fromMs, wholeMinuteFrom(Math.max(firstMs, organization.created_at)))
  const untilMs = Math.min(period.untilMs, nowMs - (nowMs % minuteMs))
  return untilMs > fromMs ? { window: { fromMs, untilMs }, firstMs } : null
}

function wholeMinuteFrom(atMs: number): number {
  return Math.ceil(atMs / minuteMs) * minuteMs
}

type ModelParts = {
  readonly window: Interval
  readonly around: Interval
  readonly spans: readonly LifeSpanTable[]
  readonly minutes: ReadonlyMap<number, MinuteCounts>
  readonly downSharePpm: number
  readonly exclusions: readonly Exclusion[]
}

function measureModel(model: string, parts: ModelParts): ModelAvailability {
  const { window, minutes, exclusions } = parts
  const isExcluded = (at: number) => exclusions.some(({ fromMs, untilMs }) => at >= fromMs && at + minuteMs <= untilMs)
  const { down, downMinutes } = findDownTime({ ...parts, model, isExcluded })
  const all = (window.untilMs - window.fromMs) / minuteMs
  const excluded = exclusions
    .map(({ fromMs, untilMs }) => Math.min(untilMs, window.untilMs) - Math.max(fromMs, window.fromMs))
    .reduce((sum, ms) => sum + Math.max(0, ms) / minuteMs, 0)
  const requests = { valid: 0, bad: 0, slow: 0, unserved: 0 }
  for (const [at, counts] of minutes) {
    if (isExcluded(at)) continue
    requests.valid += counts.valid
    requests.bad += counts.bad
    requests.slow += counts.slow
    requests.unserved += counts.unserved
  }
  const counted = all - excluded
  return {
    model,
    minutes: { counted, down: downMinutes, excluded },
    requests,
    uptimePpm: { minutes: shareOf(counted, downMinutes), requests: shareOf(requests.valid, requests.bad) },
    down,
  }
}

function shareOf(all: number, lost: number): number | null {
  return all === 0 ? null : Number((BigInt(all - lost) * 1_000_000n) / BigInt(all))
}

export function readSpans(db: Database, { fromMs, untilMs }: Interval): Promise<readonly LifeSpanTable[]> {
  return db
    .selectFrom('life_spans')
    .selectAll()
    .where('until_at', '>=', fromMs)
    .where('from_at', '<', untilMs)
    .orderBy('from_at')
    .orderBy('boot_id')
    .orderBy('number')
    .execute()
}

/** Minutes by model, to which what is counted of the same minute elsewhere is added. */
export function gatherMinutes() {
  const byModel = new Map<string, Map<number, MinuteCounts>>()
  const add = (model: string, at: number, counts: MinuteCounts) => {
    const minutes = byModel.get(model) ?? new Map<number, MinuteCounts>()
    const known = minutes.get(at)
    minutes.set(at, known === undefined ? counts : together(known, counts))
    byModel.set(model, minutes)
  }
  return { byModel, add }
}

async function readMinutes(db: Database, organizationId: OrganizationId, { fromMs, untilMs }: Interval) {
  const { byModel, add } = gatherMinutes()
  for await (const rows of readServed(db, organizationId, { fromMs, untilMs })) {
    for (const { model, at, valid, bad, slow, firstBadMs, lastBadMs } of rows) {
      add(model, at, { valid, bad: bad ?? 0, slow: slow ?? 0, unserved: 0, firstBadMs, lastBadMs })
    }
  }
  const unserved = await db
    .selectFrom('unserved_requests')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('at', '>=', fromMs)
    .where('at', '<', untilMs)
    .execute()
  for (const { model, at, requests, first_at: firstBadMs, last_at: lastBadMs } of unserved) {
    add(model, at, { valid: requests, bad: requests, slow: 0, unserved: requests, firstBadMs, lastBadMs })
  }
  const unread = unserved.filter(({ model }) => model === '').reduce((sum, { requests }) => sum + requests, 0)
  return { byModel, unread }
}

/**
 * A day at once, and everything else has its turn in between: a month of busy models is 130,000 rows, which SQLite reads in
 * this thread. In nearly all of these nothing was bad, and what is null costs nothing to read.
 */
async function* readServed(db: Database, organizationId: OrganizationId, { fromMs, untilMs }: Interval) {
  for (let from = fromMs; from < untilMs; from += dayMs) {
    yield await db
      .selectFrom('availability_minutes')
      .select(['model', 'at', 'valid', 'first_bad_at as firstBadMs', 'last_bad_at as lastBadMs'])
      .select([sql<number | null>`nullif(bad, 0)`.as('bad'), sql<number | null>`nullif(slow, 0)`.as('slow')])
      .where('organization_id', '=', organizationId)
      .where('at', '>=', from)
      .where('at', '<', Math.min(from + dayMs, untilMs))
      .execute()
    await nextTurn()
  }
}

function together(a: MinuteCounts, b: MinuteCounts): MinuteCounts {
  return {
    valid: a.valid + b.valid,
    bad: a.bad + b.bad,
    slow: a.slow + b.slow,
    unserved: a.unserved + b.unserved,
    firstBadMs:
      a.firstBadMs === null || b.firstBadMs === null
        ? (a.firstBadMs ?? b.firstBadMs)
        : Math.min(a.firstBadMs, b.firstBadMs),
    lastBadMs:
      a.lastBadMs === null || b.lastBadMs === null ? (a.lastBadMs ?? b.lastBadMs) : Math.max(a.lastBadMs, b.lastBadMs),
  }
}
