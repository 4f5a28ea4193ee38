import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { pagePath, type PageParams } from '../../app/paths.ts'
import { readAll } from '../../app/queries.ts'
import { useSearch } from '../../app/router.tsx'
import { Empty, Loaded } from '../../app/states.tsx'
import { titlesOf } from '../../charts/bucket-titles.ts'
import { othersColor } from '../../charts/colors.ts'
import { TimeBars } from '../../charts/time-bars.tsx'
import { formatCount, formatShare, formatShortCount } from '../../format/figures.ts'
import { Select } from '../../kit/field.tsx'
import { Link } from '../../kit/link.tsx'
import { Card, Page as Frame } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { oneOf, searchCodec } from '../../lib/search-codec.ts'

type Refusals = Schemas['Refusals']
type Reason = { readonly code: string; readonly requests: number; readonly share: number }

const hourMs = 3_600_000
const ranges = {
  day: { label: '24 hours', bucket: 'hour', bucketMs: hourMs, count: 24 },
  week: { label: '7 days', bucket: 'day', bucketMs: 24 * hourMs, count: 7 },
  month: { label: '30 days', bucket: 'day', bucketMs: 24 * hourMs, count: 30 },
} as const
const refusalsSearch = searchCodec({ range: oneOf(['day', 'week', 'month'], 'day') })
const choices = Object.entries(ranges).map(([value, { label }]) => ({ value: value as keyof typeof ranges, label }))
const operation = 'GET /api/v1/organizations/{organizationId}/refusals' as const
const seriesMax = 6

/** What was turned away, when, and for which reason. It costs nothing and stands in no row of the ledger. */
export function Page({ params }: { readonly params: PageParams }) {
  const organizationId = params['organizationId'] ?? ''
  const [{ range }, change] = useSearch(refusalsSearch)
  const { bucket } = ranges[range]
  const query = useQuery({
    queryKey: ['refusals', organizationId, range],
    queryFn: async ({ signal }) => {
      const starts = startsOf(range, Date.now())
      const from = starts[0] ?? ''
      const rows = await readAll((after) =>
        api(
          operation,
          { params: { organizationId }, query: { from, bucket, limit: 200, ...(after !== undefined && { after }) } },
          { signal },
        ),
      )
      return { range, starts, rows }
    },
    placeholderData: keepPreviousData,
  })
  return (
    <Frame
      title="Refusals"
      said="Requests that were turned away before a model began with them. They cost nothing. Times are UTC."
      filters={
        <Select
          isInline
          label="Time"
          value={range}
          choices={choices}
          onChoice={(chosen) => change({ range: chosen })}
        />
      }
    >
      <Loaded query={query} what="The refusals">
        {(found) => <RefusalsShown organizationId={organizationId} {...found} />}
      </Loaded>
    </Frame>
  )
}

/** The beginnings of the hours or days up to now. */
function startsOf(range: keyof typeof ranges, nowMs: number): readonly string[] {
  const { bucketMs, count } = ranges[range]
  const last = nowMs - (nowMs % bucketMs)
  return Array.from({ length: count }, (_, index) => new Date(last - (count - 1 - index) * bucketMs).toISOString())
}

type Shown = {
  readonly organizationId: string
  readonly range: keyof typeof ranges
  readonly starts: readonly string[]
  readonly rows: readonly Refusals[]
}

function RefusalsShown({ organizationId, range, starts, rows }: Shown) {
  const reasons = reasonsOf(rows)
  const { bucket, label } = ranges[range]
  if (reasons.length === 0) {
    return (
      <Empty action={<Link href={pagePath('limits', { organizationId })}>Limits</Link>}>
        No request was refused in the last {label}. Limits and budgets say what would be.
      </Empty>
    )
  }
  const series = reasons.slice(0, seriesMax).map(({ code }, index) => {
    return { name: wordsOf(code), color: `var(--series-${index + 1})`, values: valuesOf([code], starts, rows) }
  })
  const others = reasons.slice(seriesMax).map(({ code }) => code)
  if (others.length > 0) series.push({ name: 'Others', color: othersColor, values: valuesOf(others, starts, rows) })
  return (
    <>
      <Card title={`Refused requests by ${bucket}`}>
        <TimeBars
          summary={`Refused requests by ${bucket} and reason, ${label}. The table below has their sums.`}
          {...titlesOf(starts, { zone: 'UTC', bucket })}
          series={series.map((one) => ({ ...one, words: one.values.map(formatCount) }))}
          formatTick={formatShortCount}
          isWhole
        />
      </Card>
      <Table name="Reasons, the most frequent first" columns={columns} items={reasons} keyOf={({ code }) => code} />
    </>
  )
}

const columns: readonly Column<Reason>[] = [
  {
    key: 'reason',
    head: 'Reason',
    cell: ({ code }) => <a href={`${pagePath('docsErrors', {})}#${code}`}>{wordsOf(code)}</a>,
  },
  { key: 'requests', head: 'Requests', isRight: true, cell: ({ requests }) => formatCount(requests) },
  { key: 'share', head: 'Share', isRight: true, phone: 'side', cell: ({ share }) => formatShare(share) },
]

/** `budget-exceeded` as a person reads it. */
function wordsOf(code: string): string {
  const words = code.replaceAll('-', ' ')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

function reasonsOf(rows: readonly Refusals[]): readonly Reason[] {
  const counts = new Map<string, number>()
  for (const { class: code, requests } of rows) counts.set(code, (counts.get(code) ?? 0) + requests)
  const all = rows.reduce((sum, { requests }) => sum + requests, 0)
  return [...counts]
    .map(([code, requests]) => ({ code, requests, share: requests / all }))
    .toSorted((one, other) => other.requests - one.requests || one.code.localeCompare(other.code))
}

function valuesOf(codes: readonly string[], starts: readonly string[], rows: readonly Refusals[]): readonly number[] {
  return starts.map((start) =>
    rows
      .filter(({ startsAt, class: code }) => codes.includes(code) && Date.parse(startsAt) === Date.parse(start))
      .reduce((sum, { requests }) => sum + requests, 0),
  )
}
