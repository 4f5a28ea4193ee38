import { useQuery } from '@tanstack/react-query'
import { ExactMoney } from '../../app/exact-money.tsx'
import { spanOf, type RequestsSearch } from '../../app/requests/requests-search.ts'
import { useReason } from '../../app/session.ts'
import { scopeOf, usageSeriesQuery } from '../../app/usage-sums.ts'
import { formatCount } from '../../format/figures.ts'
import { Stats } from '../../kit/page.tsx'
import { RequestBars } from './request-bars.tsx'

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
  const maySum = useReason(organizationId, 'usage:read') === null
  const canSum = maySum && from !== null && isWholeHour(from) && isWholeHour(to)
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
      <RequestBars
        bucket={bucket}
        zone={series.zone}
        starts={starts}
        finished={series.finished[0] ?? []}
        aborted={series.aborted[0] ?? []}
        failed={series.failed[0] ?? []}
        to={to}
        twin=" The page Usage has the same as a table."
        onSpan={onSpan}
      />
    </>
  )
}
