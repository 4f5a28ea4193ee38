import { useQueries, type UseQueryResult } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { toProblem } from '../../api/problem.ts'
import type { Schemas } from '../../api/types.ts'
import { useCurrency } from '../../app/queries.ts'
import { formatCount, formatDuration } from '../../format/figures.ts'
import { formatMoney, toUnits } from '../../format/money.ts'
import { Card, StateTag } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { ratePerSecond } from './measures.ts'
import type { Run } from './run.ts'

type Compared = { readonly name: string; readonly run: Run }
type Details = Schemas['RequestDetails']

/** A figure of each column, and whether more of it is better. */
type Measure = {
  readonly name: string
  readonly isMoreBetter: boolean
  readonly values: readonly (number | null)[]
  readonly format: (value: number) => string
}

/** A row is written a moment after its answer has ended. */
const settledAfterMs = 300
const tries = 8

type Props = { readonly columns: readonly [Compared, Compared] }

/** Both answers by what they took, the better one marked. What they cost is what the service has charged. */
export function Comparison({ columns }: Props) {
  const currency = useCurrency()
  const details = useQueries({
    queries: columns.map(({ run: { requestId, status } }) => ({
      queryKey: ['request', requestId],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        api('GET /api/v1/requests/{requestId}', { params: { requestId: requestId ?? '' } }, { signal }),
      enabled: requestId !== null && status === 200,
      retry: (failures: number, error: Error) => toProblem(error).kind === 'not-found' && failures < tries,
      retryDelay: settledAfterMs,
    })),
  })
  const costs = details.map(({ data }: UseQueryResult<Details>) => data?.charge.costMicros ?? null)
  const measures: readonly Measure[] = [
    { name: 'First token', isMoreBetter: false, values: columns.map(({ run }) => run.firstMs), format: formatDuration },
    {
      name: 'Tokens a second',
      isMoreBetter: true,
      values: columns.map(({ run }) => ratePerSecond(run)),
      format: (rate) => rate.toFixed(1),
    },
    { name: 'In all', isMoreBetter: false, values: columns.map(({ run }) => run.totalMs), format: formatDuration },
    {
      name: 'From the cache',
      isMoreBetter: true,
      values: columns.map(({ run }) => run.cachedTokens),
      format: formatCount,
    },
    {
      name: 'Output tokens',
      isMoreBetter: false,
      values: columns.map(({ run }) => run.outputTokens),
      format: formatCount,
    },
    {
      name: `Cost, ${currency}`,
      isMoreBetter: false,
      values: costs.map((micros) => (micros === null ? null : toUnits(micros))),
      format: (units) => formatMoney(String(Math.round(units * 1_000_000)), { currency, decimals: 6 }),
    },
  ]
  const cellOf = (index: number) =>
    function Cell({ values, format, isMoreBetter }: Measure) {
      const value = values[index] ?? null
      if (value === null) return '–'
      return isBest(values, index, isMoreBetter) ? <StateTag mood="good">{format(value)}</StateTag> : format(value)
    }
  const table: readonly Column<Measure>[] = [
    { key: 'name', head: 'Measure', cell: ({ name }) => name },
    ...columns.map(({ name }, index) => ({
      key: String(index),
      head: name,
      isRight: true,
      phone: index === 0 ? ('side' as const) : ('line' as const),
      cell: cellOf(index),
    })),
  ]
  return (
    <Card title="Side by side" isFlush>
      <Table
        name="Both answers, the better figure marked"
        columns={table}
        items={measures}
        keyOf={({ name }) => name}
      />
    </Card>
  )
}

function isBest(values: readonly (number | null)[], index: number, isMoreBetter: boolean): boolean {
  const [own, other] = [values[index] ?? null, values[1 - index] ?? null]
  if (own === null || other === null || own === other) return false
  return isMoreBetter ? own > other : own < other
}
