import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { spanOf, toFilter, type RequestsSearch } from '../../app/requests/requests-search.ts'
import { formatCount } from '../../format/figures.ts'
import { Time } from '../../kit/content.tsx'
import { Stats } from '../../kit/figures.tsx'
import { RequestBars } from './request-bars.tsx'
import { dayMs } from '../../format/time.ts'

/** Up to so long each bar is an hour. */
const byHourMs = 2 * dayMs
/** The service looks through no more days for it. */
const daysMax = 92

type Props = {
  readonly organizationId: string
  readonly search: RequestsSearch
  readonly onSpan: (span: Pick<RequestsSearch, 'range' | 'from' | 'to'>) => void
}

/** When the requests of these filters were, where the sums of usage do not know them; empty until it is known. */
export function RequestHistogram({ organizationId, search, onSpan }: Props) {
  const { from, to } = spanOf(search)
  const lengthMs = (to === null ? Date.now() : Date.parse(to)) - Date.parse(from ?? '')
  const bucket = lengthMs <= byHourMs ? 'hour' : 'day'
  const asked = { ...toFilter(search), bucket, zone: search.zone } as const
  const { data: found = null, isLoading } = useQuery({
    queryKey: ['ledger-as-read', organizationId, 'histogram', asked],
    queryFn: ({ signal }) =>
      api(
        'GET /api/v1/organizations/{organizationId}/requests/histogram',
        { params: { organizationId }, query: asked },
        { signal },
      ),
    enabled: from !== null && lengthMs <= daysMax * dayMs,
    placeholderData: keepPreviousData,
  })
  const counted = found?.countedFrom ?? null
  if (found === null ? !isLoading : found.total === 0) return null
  return (
    <>
      <Stats
        name="These requests"
        figures={[{ name: 'Requests', value: found === null ? '–' : formatCount(found.total) }]}
      />
      {counted !== null && (
        <small>
          Counted from <Time at={counted} /> on: there are too many requests before it to look through.
        </small>
      )}
      <RequestBars
        {...(found ?? { zone: search.zone, finished: [], aborted: [], failed: [] })}
        bucket={bucket}
        starts={found?.startsAt ?? []}
        to={to}
        onSpan={onSpan}
      />
    </>
  )
}
