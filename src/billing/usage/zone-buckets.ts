import { dayMs, hourMs } from './usage-columns.ts'

export const bucketKinds = ['hour', 'day', 'week', 'month'] as const
export type BucketKind = (typeof bucketKinds)[number]

export type BucketRange = {
  readonly bucket: BucketKind
  /** An IANA name. */
  readonly zone: string
  /** Whole hours; `toMs` itself is left out. */
  readonly fromMs: number
  readonly toMs: number
}

/** A zone that this machine does not know, or whose hours do not begin with those of UTC, by which sums are kept. */
export class UnusableZone extends Error {
  override readonly name = 'UnusableZone'
}

/**
 * Cuts a time into the hours, days, weeks or months of a zone, and returns where each begins.
 *
 * Weeks begin on Monday. The first bucket begins with the time itself, wherever its day or month does. A day on which
 * the clocks are changed has 23 hours, or 25.
 */
export function bucketStarts({ bucket, zone, fromMs, toMs }: BucketRange): readonly number[] {
  const offsetOf = zone === 'UTC' ? () => 0 : zoneOffsets(zone)
  const starts: number[] = []
  let last: number | string | null = null
  for (let hour = fromMs; hour < toMs; hour += hourMs) {
    const key = bucket === 'hour' ? hour : keyOf(bucket, hour + offsetOf(hour))
    if (key !== last) starts.push(hour)
    last = key
  }
  return starts
}

/** Which bucket a time of the zone's own clock lies in. */
function keyOf(bucket: Exclude<BucketKind, 'hour'>, localMs: number): number | string {
  const day = Math.floor(localMs / dayMs)
  if (bucket === 'day') return day
  // The first of January 1970 was a Thursday.
  if (bucket === 'week') return Math.floor((day + 3) / 7)
  return new Date(localMs).toISOString().slice(0, 7)
}

/** How far the zone's clock is ahead at an hour. It changes at whole hours of UTC, so each day is looked at once or twice. */
function zoneOffsets(zone: string): (ms: number) => number {
  const format = formatFor(zone)
  const known = new Map<number, number>()
  const read = (ms: number) => {
    const found = known.get(ms) ?? readOffset(format, ms)
    known.set(ms, found)
    if (found % hourMs === 0) return found
    throw new UnusableZone(`Sums are kept by UTC hours: days of ${zone} cannot be told apart exactly.`)
  }
  return (ms) => {
    const day = Math.floor(ms / dayMs) * dayMs
    const [before, after] = [read(day), read(day + dayMs)]
    return before === after ? before : read(ms)
  }
}

function formatFor(zone: string): Intl.DateTimeFormat {
  const fields = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', era: 'short', ...fields })
  } catch {
    throw new UnusableZone('There is no such time zone.')
  }
}

function readOffset(format: Intl.DateTimeFormat, ms: number): number {
  const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts as Record<string, number>
  return Date.UTC(year, month - 1, day, hour, minute) - ms
}
