import { useQuery } from '@tanstack/react-query'
import { pagePath, type PageParams } from '../../app/paths.ts'
import { useCurrency } from '../../app/queries.ts'
import { requestsHref } from '../../app/requests/requests-search.ts'
import { useSearch } from '../../app/router.tsx'
import { useReason } from '../../app/session.ts'
import { Empty, Loaded } from '../../app/states.tsx'
import { scopeOf, usageSeriesQuery } from '../../app/usage-sums.ts'
import { UnreadNote } from '../../app/unread-note.tsx'
import { ZoneNote } from '../../app/zone-field.tsx'
import { formatDay } from '../../format/time.ts'
import { LinkButton } from '../../kit/button.tsx'
import { Card, Page as Frame } from '../../kit/page.tsx'
import { Segments } from '../../kit/tabs.tsx'
import { location } from '../../lib/location.ts'
import { UsageChart } from './chart.tsx'
import { UsageExport } from './export-menu.tsx'
import { UsageFilters } from './filters.tsx'
import { Foot } from './foot.tsx'
import { metrics, type Series } from './metrics.ts'
import {
  attributionOf,
  groupingOf,
  rangeOf,
  requestsFilterOf,
  usageSearch,
  type Range,
  type UsageSearch,
} from './search.ts'
import { SumStats } from './sum-stats.tsx'
import { UsageTable } from './usage-table.tsx'

/** How many groups have a colour of their own. */
const groupsDrawn = 6
/** The most that the service tells apart. */
const groupsMax = 50

function queryOf(range: Range, search: UsageSearch, top: number) {
  const { zone, previous } = search
  return {
    ...range,
    zone,
    top,
    ...groupingOf(search),
    ...(previous && { previous: 'true' as const }),
    ...scopeOf(search),
    ...attributionOf(search),
  }
}

export function Page({ params }: { readonly params: PageParams }) {
  const organizationId = params['organizationId'] ?? ''
  const [search, change, unread] = useSearch(usageSearch)
  const range = rangeOf(search)
  const query = useQuery(usageSeriesQuery(organizationId, queryOf(range, search, groupsDrawn)))
  return (
    <Frame
      title="Usage and cost"
      said={`${describe(range, search.zone)}, days of ${search.zone}`}
      actions={<UsageExport organizationId={organizationId} range={range} search={search} />}
      filters={<UsageFilters organizationId={organizationId} search={search} onChange={change} />}
    >
      <UnreadNote unread={unread} />
      <ZoneNote />
      <Loaded query={query} what="The sums">
        {(series) =>
          // A time may have nothing but reversals, which are counted like the requests of another.
          series.groups.length === 0 ? (
            <NoUsage organizationId={organizationId} />
          ) : (
            <Shown organizationId={organizationId} series={series} range={range} search={search} onChange={change} />
          )
        }
      </Loaded>
    </Frame>
  )
}

type ShownProps = {
  readonly organizationId: string
  readonly series: Series
  readonly range: Range
  readonly search: UsageSearch
  readonly onChange: (changes: Partial<UsageSearch>) => void
}

/** Sums, chart and table of one answer of the service, so that they cannot differ. */
function Shown({ organizationId, series, range, search, onChange }: ShownProps) {
  const currency = useCurrency()
  const mayOpen = useReason(organizationId, 'requests:read') === null
  const all = useQuery({
    ...usageSeriesQuery(organizationId, queryOf(range, search, groupsMax)),
    enabled: search.all,
  }).data
  const filter = requestsFilterOf(search)
  const open = (from: string, to: string) => void location.go(requestsHref(organizationId, { ...filter, from, to }))
  return (
    <>
      <SumStats sums={series.totals} before={series.previous} />
      <Card
        title={`${search.metric === 'cost' ? `Cost in ${currency}` : titleOf(search)} by ${range.bucket}`}
        actions={
          <Segments
            name="What is counted"
            tabs={metrics}
            chosen={search.metric}
            onChoice={(metric) => onChange({ metric })}
          />
        }
      >
        <UsageChart
          series={series}
          bucket={range.bucket}
          search={search}
          currency={currency}
          {...(mayOpen && filter !== null && { onOpen: open })}
        />
      </Card>
      <UsageTable
        organizationId={organizationId}
        groups={search.all && all !== undefined ? all.groups : series.groups}
        search={search}
        range={range}
        currency={currency}
        total={series.totals}
        onAll={() => onChange({ all: true })}
      />
      <Foot series={series} />
    </>
  )
}

function titleOf({ metric }: UsageSearch): string {
  return metrics.find(({ value }) => value === metric)?.label ?? ''
}

function describe({ from, to }: Range, zone: string): string {
  const [first, last] = [formatDay(from, zone), formatDay(new Date(Date.parse(to) - 1).toISOString(), zone)]
  return first === last ? first : `${first} – ${last}`
}

function NoUsage({ organizationId }: { readonly organizationId: string }) {
  return (
    <Empty action={<LinkButton href={pagePath('quickstart', { organizationId })}>To the quickstart</LinkButton>}>
      No requests in this time.
    </Empty>
  )
}
