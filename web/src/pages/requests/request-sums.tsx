import { useQuery } from '@tanstack/react-query'
import type { AnswerOf } from '../../api/client.ts'
import { ExactMoney } from '../../app/exact-money.tsx'
import { spanOf, type RequestsSearch } from '../../app/requests/requests-search.ts'
import { useReason } from '../../app/session.ts'
import { scopeOf, usageSeriesQuery } from '../../app/usage-sums.ts'
import { formatCount } from '../../format/figures.ts'
import { Stats, type Figure } from '../../kit/figures.tsx'
import { RequestBars } from './request-bars.tsx'

type Series = AnswerOf<'GET /api/v1/organizations/{organizationId}/usage/series'>

const hourMs = 60 * 60 * 1_000
/** Up to so long each bar is an hour. */
const byHourMs = 49 * hourMs

type Props = {
  readonly organizationId: string
  readonly search: RequestsSearch
  /** Shows the requests of one bar alone. */
  readonly onSpan: (span: Pick<RequestsSearch, 'range' | 'from' | 'to'>) => void
}

/**
 * How many requests these filters mean and what they cost, as the service has summed them, and when they were. It stands
 * there empty until it is known, so that the rows below are read meanwhile and stay where they are.
 */
export function RequestSums({ organizationId, search, onSpan }: Props) {
  const { from, to } = spanOf(search)
  const isWholeHour = (at: string | null) => at === null || Date.parse(at) % hourMs === 0
  const maySum = useReason(organizationId, 'usage:read') === null
  const canSum = maySum && from !== null && isWholeHour(from) && isWholeHour(to)
  const lengthMs = (to === null ? Date.now() : Date.parse(to)) - Date.parse(from ?? '')
  const bucket = lengthMs <= byHourMs ? 'hour' : 'day'
  const { data: series, isLoading } = useQuery({
    ...usageSeriesQuery(organizationId, {
      ...(from !== null && { from }),
      ...(to !== null && { to }),
      bucket,
      zone: search.zone,
      ...scopeOf(search),
    }),
    enabled: canSum,
  })
  if (!canSum || (series === undefined ? !isLoading : series.totals.requests === 0)) return null
  return (
    <>
      <Stats name="Sums of these requests" figures={figuresOf(series?.totals)} />
      <RequestBars
        {...barsOf(series)}
        bucket={bucket}
        zone={search.zone}
        to={to}
        twin=" The page Usage has the same as a table."
        onSpan={onSpan}
      />
    </>
  )
}

function figuresOf(totals: Series['totals'] | undefined): readonly Figure[] {
  const count = (requests: number | undefined) => (requests === undefined ? '–' : formatCount(requests))
  return [
    { name: 'Requests', value: count(totals?.requests) },
    { name: 'Finished', value: count(totals?.finished) },
    { name: 'Left by the client', value: count(totals?.aborted) },
    { name: 'Failed, ours', value: count(totals?.failed) },
    { name: 'Cost', value: totals === undefined ? '–' : <ExactMoney micros={totals.costMicros} /> },
  ]
}

function barsOf(series: Series | undefined) {
  if (series === undefined) return { starts: [], finished: [], aborted: [], failed: [] }
  const { startsAt, through, finished, aborted, failed } = series
  return {
    starts: startsAt.filter((start) => start < through),
    finished: finished[0] ?? [],
    aborted: aborted[0] ?? [],
    failed: failed[0] ?? [],
  }
}
