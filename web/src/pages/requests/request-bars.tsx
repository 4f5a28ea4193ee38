import type { RequestsSearch } from '../../app/requests/requests-search.ts'
import { titlesOf } from '../../charts/bucket-titles.ts'
import { TimeBars } from '../../charts/time-bars.tsx'
import { formatCount, formatShortCount } from '../../format/figures.ts'
import { Card } from '../../kit/page.tsx'

type Props = {
  readonly bucket: 'hour' | 'day'
  readonly zone: string
  /** The beginning of each bucket, and how many requests of it ended in which way. */
  readonly starts: readonly string[]
  readonly finished: readonly number[]
  readonly aborted: readonly number[]
  readonly failed: readonly number[]
  /** The end of the last bucket; null is now. */
  readonly to: string | null
  /** Says the same as a table, where there is one. */
  readonly twin?: string
  /** Shows the requests of one bar alone. */
  readonly onSpan: (span: Pick<RequestsSearch, 'range' | 'from' | 'to'>) => void
}

/** When requests were, and how they ended. */
export function RequestBars({ bucket, zone, starts, finished, aborted, failed, to, twin = '', onSpan }: Props) {
  const columns = [
    { name: 'Finished', color: 'var(--series-1)', values: finished },
    { name: 'Left by the client', color: 'var(--series-others)', values: aborted },
    { name: 'Failed, ours', color: 'var(--bad)', values: failed },
  ]
  return (
    <Card title={`Requests by ${bucket}`}>
      <TimeBars
        summary={`Requests by ${bucket} and by how they ended.${twin}`}
        {...titlesOf(starts, { zone, bucket })}
        series={columns.map((column) => ({
          ...column,
          values: starts.map((_, index) => column.values[index] ?? 0),
          words: starts.map((_, index) => formatCount(column.values[index] ?? 0)),
        }))}
        formatTick={formatShortCount}
        isWhole
        onOpen={(index) => onSpan({ range: 'custom', from: starts[index] ?? '', to: starts[index + 1] ?? to ?? '' })}
      />
    </Card>
  )
}
