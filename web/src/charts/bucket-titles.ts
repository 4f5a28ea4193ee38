import { formatDay, formatHour, type Zone } from '../format/time.ts'

type Cut = { readonly zone: Zone; readonly bucket: 'hour' | 'day' | 'week' | 'month' }

/** What stands below a chart's buckets, and over the one under the cursor. */
export function titlesOf(
  starts: readonly string[],
  { zone, bucket }: Cut,
): { readonly labels: readonly string[]; readonly titles: readonly string[]; readonly hours?: readonly number[] } {
  const hours = starts.map((start) => (bucket === 'hour' ? Number.parseInt(formatHour(start, zone), 10) : 0))
  // Hours stand below the day that they are of, which is said where it begins.
  const label = (start: string, at: number) =>
    hours[at] === 0 ? formatDay(start, zone).slice(0, -5) : formatHour(start, zone)
  const title = (start: string) => {
    const day = formatDay(start, zone)
    if (bucket === 'hour') return `${day} ${formatHour(start, zone)}, ${zone}`
    return bucket === 'day' ? `${day}, ${zone}` : `${bucket === 'week' ? 'Week' : 'Month'} from ${day}, ${zone}`
  }
  return { labels: starts.map(label), titles: starts.map(title), ...(bucket === 'hour' && { hours }) }
}
