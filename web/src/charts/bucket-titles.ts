import { formatDay, formatHour, type Zone } from '../format/time.ts'

type Cut = { readonly zone: Zone; readonly bucket: 'hour' | 'day' | 'week' | 'month' }

/** What stands below a chart's buckets, and over the one under the cursor. */
export function titlesOf(
  starts: readonly string[],
  { zone, bucket }: Cut,
): { readonly labels: readonly string[]; readonly titles: readonly string[] } {
  const label = (start: string) => (bucket === 'hour' ? formatHour(start, zone) : formatDay(start, zone).slice(0, -5))
  const title = (start: string) => {
    const day = formatDay(start, zone)
    if (bucket === 'hour') return `${day} ${formatHour(start, zone)}, ${zone}`
    return bucket === 'day' ? `${day}, ${zone}` : `${bucket === 'week' ? 'Week' : 'Month'} from ${day}, ${zone}`
  }
  return { labels: starts.map(label), titles: starts.map(title) }
}
