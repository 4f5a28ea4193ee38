import { useQuery } from '@tanstack/react-query'
import { ExactMoney } from '../../app/exact-money.tsx'
import { spanOf, type RequestsSearch } from '../../app/requests/requests-search.ts'
import { scopeOf, usageSeriesQuery } from '../../app/usage-sums.ts'
import { titlesOf } from '../../charts/bucket-titles.ts'
import { TimeBars } from '../../charts/time-bars.tsx'
import { formatCount, formatShortCount } from '../../format/figures.ts'
import { Card, Stats } from '../../kit/page.tsx'

const hourMs = 60 * 60 * 1_000
/** Up to so long each bar is an hour. */
const byHourMs = 49 * hourMs

type Props = {
  readonly organizationId: string
  readonly search: RequestsSearch
  /** Shows the requests of one bar alone. */
  readonly onSpan: (span: Pick<RequestsSearch, 'range' | 'from' | 'to'>) => void
}

/** How many requests these filters mean and what they cost, as the service has summed them, and when they were. */
export function RequestSums({ organizationId, search, onSpan }: Props) {
  const { from, to } = spanOf(search)
  const isWholeHour = (at: string | null) => at === null || Date.parse(at) % hourMs === 0
  const canSum = from !== null && isWholeHour(from) && isWholeHour(to)
  const lengthMs = (to === null ? Date.now() : Date.parse(to)) - Date.parse(from ?? '')
  const bucket = lengthMs <= byHourMs ? 'hour' : 'day'
  const series = useQuery({
    ...usageSeriesQuery(organizationId, {
      ...(from !== null && { from }),
      ...(to !== null && { to }),
      bucket,
      zone: search.zone,
      ...scopeOf(search),
    }),
    enabled: canSum,
  }).data
  if (!canSum || series === undefined || series.totals.requests === 0) return null
  const { totals } = series
  const starts = series.startsAt.filter((start) => start < series.through)
  const columns = [
    { name: 'Finished', color: 'var(--series-1)', values: series.finished[0] ?? [] },
    { name: 'Left by the client', color: 'var(--series-others)', values: series.aborted[0] ?? [] },
    { name: 'Failed, ours', color: 'var(--bad)', values: series.failed[0] ?? [] },
  ]
  const figures = [
    { name: 'Requests', value: formatCount(totals.requests) },
    { name: 'Finished', value: formatCount(totals.finished) },
    { name: 'Left by the client', value: formatCount(totals.aborted) },
    { name: 'Failed, ours', value: formatCount(totals.failed) },
    {
      name: 'Cost',
      value: <ExactMoney micros={totals.costMicros} />,
    },
  ]
  return (
    <>
      <Stats name="Sums of these requests" figures={figures} />
      <Card title={`Requests by ${bucket}`}>
        <TimeBars
          summary={`Requests by ${bucket} and by how they ended. The page Usage has the same as a table.`}
          {...titlesOf(starts, { zone: series.zone, bucket })}
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
    </>
  )
}
