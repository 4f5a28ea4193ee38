import type { Database } from '../../db/database.ts'
import { queryUsageTogether, type UsageFilter, type UsageQuery, type UsageRow } from './query-usage.ts'
import { dayMs, hourMs } from './usage-columns.ts'

export type ZoneQuery = UsageFilter & Pick<UsageQuery, 'groupBy'> & { readonly toMs: number }

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
export async function readZoneRows(
  db: Database,
  query: ZoneQuery,
  startsMs: readonly number[],
): Promise<readonly UsageRow[]> {
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
