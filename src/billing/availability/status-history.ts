import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../../db/database.ts'
import type { LifeSpanTable } from '../../db/tables/availability.ts'
import { nowAndEvery, type Clock } from '../../lib/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { percentilesOf, type Percentiles } from '../ledger/newest-waits.ts'
import { minuteMs } from '../refusals/minute.ts'
import { dayMs } from '../usage/usage-columns.ts'
import { findDownTime, type DownInterval, type MinuteCounts } from './down-time.ts'
import type { Interval } from './intervals.ts'
import { readFirstSign } from './life-signs.ts'
import { gatherMinutes, marginMs, readSpans } from './measure.ts'
import { measuredBy } from './objectives.ts'

export const daysShown = 90
const incidentDays = 14
/** What is asked of the ledger for the latest first tokens looks at no more rows than these. */
const rowsLookedAt = 20_000

export type HistoryDay = {
  /** As `2026-11-01`, in UTC. */
  readonly day: string
  /** Zero for a day of which nothing is known. */
  readonly minutes: number
  readonly downMinutes: number
}

export type ModelHistory = {
  readonly model: string
  /** The oldest first, today last. */
  readonly days: readonly HistoryDay[]
  /** Of the last day; null where nobody got one. */
  readonly firstTokenMs: Percentiles | null
  /** The latest first. */
  readonly incidents: readonly DownInterval[]
}

/** How the models were for everybody together, without a word of who asked. */
export type StatusHistory = { readonly atMs: number; readonly models: readonly ModelHistory[] }

export type LiveHistory = {
  /** As it was last read; it stays while the database is away. Null until it was read once. */
  read(): StatusHistory | null
  close(): Promise<void>
}

export type HistoryParts = {
  readonly db: Database
  readonly clock: Clock
  readonly log: Pick<Log, 'warn'>
  readonly models: readonly string[]
}

/** Reads the history once a minute; whoever asks for it is answered out of memory. */
export function keepHistory(parts: HistoryParts): LiveHistory {
  const { clock, log } = parts
  const past = new Map<string, Day>()
  let history: StatusHistory | null = null
  const stop = nowAndEvery(clock, minuteMs, async () => {
    try {
      history = await readHistory(parts, past)
    } catch (error) {
      log.warn({ error }, 'the history of the models could not be read; what was read before is shown')
    }
  })
  return { read: () => history, close: stop }
}

type Day = HistoryDay & { readonly down: readonly DownInterval[] }

/** The days before yesterday change no more, and are kept in `past`. */
export async function readHistory(
  { db, clock, models }: Omit<HistoryParts, 'log'>,
  past = new Map<string, Day>(),
): Promise<StatusHistory> {
  const atMs = clock.nowMs()
  const today = atMs - (atMs % dayMs)
  const starts = Array.from({ length: daysShown }, (_, index) => today - (daysShown - 1 - index) * dayMs)
  const missing = starts.filter((start) => start >= today - dayMs || !past.has(`${models[0]} ${start}`))
  const from = Math.min(...missing)
  const spans = await readSpans(db, { fromMs: from - marginMs, untilMs: atMs })
  const firstMs = (await readFirstSign(db, atMs)) ?? atMs
  for (const start of missing) {
    const bad = await readBadMinutes(db, models, { fromMs: start, untilMs: start + dayMs })
    for (const model of models) {
      const minutes = bad.get(model) ?? new Map<number, MinuteCounts>()
      past.set(`${model} ${start}`, measureDay({ model, start, atMs, firstMs, spans, minutes }))
    }
    await nextTurn()
  }
  const shown: ModelHistory[] = []
  for (const model of models) {
    const days = starts.flatMap((start) => past.get(`${model} ${start}`) ?? [])
    const incidents = days.slice(-incidentDays).flatMap(({ down }) => down)
    shown.push({
      model,
      days: days.map(({ day, minutes: all, downMinutes }) => ({ day, minutes: all, downMinutes })),
      firstTokenMs: await readFirstTokens(db, model, atMs - dayMs),
      incidents: joined(incidents).toReversed(),
    })
  }
  for (const key of past.keys()) if (Number(key.split(' ')[1]) < (starts[0] ?? 0)) past.delete(key)
  return { atMs, models: shown }
}

type DayParts = {
  readonly model: string
  readonly start: number
  readonly atMs: number
  /** Of the time before nothing is known. */
  readonly firstMs: number
  readonly spans: readonly LifeSpanTable[]
  readonly minutes: ReadonlyMap<number, MinuteCounts>
}

function measureDay({ model, start, atMs, firstMs, spans, minutes }: DayParts): Day {
  const fromMs = Math.max(start, Math.ceil(firstMs / minuteMs) * minuteMs)
  const untilMs = Math.min(start + dayMs, atMs - (atMs % minuteMs))
  const day = new Date(start).toISOString().slice(0, 10)
  if (untilMs <= fromMs) return { day, minutes: 0, downMinutes: 0, down: [] }
  const around = { fromMs: Math.max(firstMs, fromMs - marginMs), untilMs: Math.min(untilMs + marginMs, atMs) }
  const near = spans.filter(({ from_at: from, until_at: until }) => from < around.untilMs && until >= around.fromMs)
  const { downSharePpm } = measuredBy
  const window = { fromMs, untilMs }
  const found = findDownTime({ model, window, around, spans: near, minutes, downSharePpm, isExcluded: () => false })
  return { day, minutes: (untilMs - fromMs) / minuteMs, downMinutes: found.downMinutes, down: found.down }
}

/** What goes on over midnight is one. */
function joined(intervals: readonly DownInterval[]): DownInterval[] {
  const all: DownInterval[] = []
  for (const one of intervals) {
    const last = all.at(-1)
    if (last === undefined || last.untilMs < one.fromMs) all.push(one)
    else {
      all[all.length - 1] = {
        ...last,
        untilMs: one.untilMs,
        minutes: last.minutes + one.minutes,
        causes: [...new Set([...last.causes, ...one.causes])].toSorted(),
        valid: last.valid + one.valid,
        bad: last.bad + one.bad,
      }
    }
  }
  return all
}

/** The minutes in which anybody's request was bad or had no row in the ledger, by model. */
async function readBadMinutes(
  db: Database,
  models: readonly string[],
  { fromMs, untilMs }: Interval,
): Promise<ReadonlyMap<string, ReadonlyMap<number, MinuteCounts>>> {
  // As the index of such minutes has it, so that a day in which all was well costs nothing.
  const isBad = sql<boolean>`bad > 0`
  // What clients call models that there are none of may be without end.
  const unserved = db
    .selectFrom('unserved_requests')
    .where('at', '>=', fromMs)
    .where('at', '<', untilMs)
    .where('model', 'in', models)
  const { byModel, add } = gatherMinutes()
  const turnedAway = await unserved
    .select(['model', 'at'])
    .select([
      sql<number>`cast(sum(requests) as bigint)`.as('requests'),
      sql<number>`min(first_at)`.as('firstBadMs'),
      sql<number>`max(last_at)`.as('lastBadMs'),
    ])
    .groupBy(['model', 'at'])
    .execute()
  for (const { model, at, requests, firstBadMs, lastBadMs } of turnedAway)
    add(model, at, { valid: requests, bad: requests, slow: 0, unserved: requests, firstBadMs, lastBadMs })
  const rows = await db
    .selectFrom('availability_minutes')
    .select(['model', 'at'])
    .select([
      sql<number>`cast(sum(valid) as bigint)`.as('valid'),
      sql<number>`cast(sum(bad) as bigint)`.as('bad'),
      sql<number>`cast(sum(slow) as bigint)`.as('slow'),
      sql<number | null>`min(first_bad_at)`.as('firstBadMs'),
      sql<number | null>`max(last_bad_at)`.as('lastBadMs'),
    ])
    .where('at', 'in', (query) =>
      query
        .selectFrom('availability_minutes')
        .select('at')
        .where(isBad)
        .where('at', '>=', fromMs)
        .where('at', '<', untilMs)
        .union(unserved.select('at')),
    )
    .groupBy(['model', 'at'])
    .execute()
  for (const { model, at, ...counts } of rows) {
    if (counts.bad > 0 || byModel.get(model)?.has(at) === true) add(model, at, { ...counts, unserved: 0 })
  }
  return byModel
}

async function readFirstTokens(db: Database, model: string, fromMs: number): Promise<ModelHistory['firstTokenMs']> {
  const last = await db.selectFrom('ledger').select('sequence').orderBy('sequence', 'desc').limit(1).executeTakeFirst()
  const rows = await db
    .selectFrom('ledger')
    .select('first_token_ms')
    .where('sequence', '>', (last?.sequence ?? 0) - rowsLookedAt)
    .where('model', '=', model)
    .where('kind', '=', 'charge')
    .where('at', '>=', fromMs)
    .where('first_token_ms', 'is not', null)
    .execute()
  return percentilesOf(rows.map(({ first_token_ms: ms }) => ms ?? 0))
}
