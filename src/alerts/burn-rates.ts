import { sql } from 'kysely'
import { findObjective, readObjectives } from '../billing/availability/objectives.ts'
import { installationChain } from '../db/change.ts'
import type { Database } from '../db/database.ts'
import { raise, type AlertParts } from './append-event.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/**
 * How fast an error budget of 30 days may be used up before it is told. The short window says that it still goes on.
 *
 *     page     2 % of it in an hour, 5 % in six
 *     ticket   10 % in a day, 10 % in three
 */
export const burns = [
  { severity: 'page', factor: 14.4, longMs: hourMs, shortMs: 5 * minuteMs, againMs: hourMs },
  { severity: 'page', factor: 6, longMs: 6 * hourMs, shortMs: 30 * minuteMs, againMs: 6 * hourMs },
  { severity: 'ticket', factor: 3, longMs: dayMs, shortMs: 2 * hourMs, againMs: dayMs },
  { severity: 'ticket', factor: 1, longMs: 3 * dayMs, shortMs: 6 * hourMs, againMs: dayMs },
] as const

/** A request that fails in a quiet night wakes nobody. */
export const badMin = 10

/** The requests of a minute, of all organizations. */
export type MinuteSums = { readonly at: number; readonly model: string; readonly valid: number; readonly bad: number }

export type Burning = {
  /** Null is all models together. */
  readonly model: string | null
  readonly severity: 'page' | 'ticket'
  readonly factor: number
  readonly valid: number
  readonly bad: number
  readonly againMs: number
}

/** What burns at a moment, by the minutes before it: for each model, and for all together, the fastest alone. */
export function findBurning(minutes: readonly MinuteSums[], nowMs: number, availabilityPpm: number): Burning[] {
  const byModel = Map.groupBy(minutes, ({ model }) => model)
  const subjects = [[null, minutes] as const, ...byModel]
  return subjects.flatMap(([model, own]): Burning[] => {
    for (const { longMs, shortMs, ...burn } of burns) {
      const [long, short] = [longMs, shortMs].map((windowMs) => sumSince(own, nowMs - windowMs))
      const isFast = (sums: typeof long) =>
        sums !== undefined && sums.bad * 1_000_000 > burn.factor * (1_000_000 - availabilityPpm) * sums.valid
      if (long !== undefined && long.bad >= badMin && isFast(long) && isFast(short))
        return [{ model, ...burn, ...long }]
    }
    return []
  })
}

function sumSince(minutes: readonly MinuteSums[], fromMs: number): { readonly valid: number; readonly bad: number } {
  let [valid, bad] = [0, 0]
  for (const minute of minutes) {
    // A minute that has begun before counts as long as any of it is in the window.
    if (minute.at + minuteMs <= fromMs) continue
    valid += minute.valid
    bad += minute.bad
  }
  return { valid, bad }
}

/** Tells the installation of error budgets that are used up too fast. */
export async function tellBurning(parts: AlertParts): Promise<void> {
  const nowMs = parts.clock.nowMs()
  const minutes = await readMinutes(parts.db, nowMs - 3 * dayMs - minuteMs)
  if (minutes.every(({ bad }) => bad === 0)) return
  const { availabilityPpm } = findObjective(await readObjectives(parts.db, null), installationChain, nowMs)
  for (const { model, againMs, ...rest } of findBurning(minutes, nowMs, availabilityPpm)) {
    await raise(parts, {
      organizationId: installationChain,
      topic: 'availability.burning',
      cause: `${model ?? 'all'} ${rest.factor}`,
      windowMs: againMs,
      data: { model, ...rest, availabilityPpm },
    })
  }
}

async function readMinutes(db: Database, fromMs: number): Promise<readonly MinuteSums[]> {
  const served = await db
    .selectFrom('availability_minutes')
    .select(['at', 'model'])
    .select([sql<number>`cast(sum(valid) as bigint)`.as('valid'), sql<number>`cast(sum(bad) as bigint)`.as('bad')])
    .where('at', '>=', fromMs)
    .groupBy(['at', 'model'])
    .execute()
  const unserved = await db
    .selectFrom('unserved_requests')
    .select(['at', 'model'])
    .select(sql<number>`cast(sum(requests) as bigint)`.as('requests'))
    .where('at', '>=', fromMs)
    .where('model', '<>', '')
    .groupBy(['at', 'model'])
    .execute()
  return [...served, ...unserved.map(({ requests, ...minute }) => ({ ...minute, valid: requests, bad: requests }))]
}
