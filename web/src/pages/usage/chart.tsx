import { colorOf, othersColor } from '../../charts/colors.ts'
import { TimeBars } from '../../charts/time-bars.tsx'
import { titlesOf } from '../../charts/bucket-titles.ts'
import { sumsAt, tickOf, unitOf, valueOf, wordsOfMetric, type Series } from './metrics.ts'
import type { Bucket, UsageSearch } from './search.ts'

type Props = {
  readonly series: Series
  readonly bucket: Bucket
  readonly search: UsageSearch
  readonly currency: string
  /** Opens the requests of a bucket, given its beginning and its end. */
  readonly onOpen?: (from: string, to: string) => void
}

/** The groups as the service has ranked them, the costliest at the bottom of each bar. Buckets to come are left out. */
export function UsageChart({ series, bucket, search, currency, onOpen }: Props) {
  const { metric } = search
  const starts = series.startsAt.filter((start) => start < series.through)
  const bars = series.groups.map(({ id, name, isOthers }, group) => {
    const sums = starts.map((_, index) => sumsAt(series, group, index))
    return {
      name: id === null && !isOthers && search.by === 'nothing' ? unitOf[metric] : name,
      color: isOthers ? othersColor : colorOf(id ?? '', group),
      values: sums.map((one) => valueOf(metric, one)),
      words: sums.map((one) => wordsOfMetric(metric, one, currency)),
    }
  })
  const open = (index: number) => {
    const from = starts[index]
    if (from !== undefined) onOpen?.(from, series.startsAt[index + 1] ?? series.through)
  }
  return (
    <TimeBars
      summary={`${unitOf[metric]} by ${bucket}, ${bars.map(({ name }) => name).join(', ')}. The table below has the sums.`}
      {...titlesOf(starts, { zone: series.zone, bucket })}
      series={bars}
      formatTick={tickOf(metric, currency)}
      isWhole={metric !== 'cost'}
      {...(onOpen !== undefined && { onOpen: open })}
    />
  )
}
