import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../api/types.ts'
import { ExactMoney } from '../../app/exact-money.tsx'
import { pricesQuery, useCurrency } from '../../app/queries.ts'
import { useReason } from '../../app/session.ts'
import { formatCount } from '../../format/figures.ts'
import { formatRate } from '../../format/money.ts'
import { Time } from '../../kit/content.tsx'
import { Stack } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'

type Details = Schemas['RequestDetails']
type Line = Details['lines'][number]

const kinds: Readonly<Record<Line['kind'], string>> = {
  inputUncached: 'input, uncached',
  inputCacheRead: 'cache read',
  inputCacheWrite: 'cache write, 5 min',
  inputCacheWriteLong: 'cache write, 1 h',
  output: 'output',
}

/** The lines of the service's own bill of this request, and what it would have cost without the cache. */
export function PriceLines({
  organizationId,
  details: { charge, lines, roundingMicros, savedMicros },
}: {
  readonly organizationId: string
  readonly details: Details
}) {
  const currency = useCurrency()
  const mayReadPrices = useReason(organizationId, 'prices:read') === null
  const { data: prices, isLoading } = useQuery({ ...pricesQuery(organizationId), enabled: mayReadPrices })
  const since = prices?.find(({ id }) => id === charge.priceId)?.effectiveAt
  if (charge.costMicros === null) return <p>There was no price for this model then, so the request cost nothing.</p>
  const columns: readonly Column<Line>[] = [
    { key: 'kind', head: 'Kind', cell: ({ kind }) => kinds[kind] },
    { key: 'tokens', head: 'Tokens', isRight: true, cell: ({ tokens }) => formatCount(tokens) },
    {
      key: 'rate',
      head: `Rate, ${currency} per million`,
      isRight: true,
      cell: ({ rateMicros }) => formatRate(rateMicros, currency),
    },
    {
      key: 'amount',
      head: 'Amount',
      isRight: true,
      phone: 'side',
      cell: ({ costMicros }) => <ExactMoney micros={costMicros} decimals={6} />,
    },
  ]
  return (
    <Stack>
      {lines.length > 0 && <Table name="Price lines" columns={columns} items={lines} keyOf={({ kind }) => kind} />}
      {roundingMicros !== null && (
        <p>
          Rounding of older requests: <ExactMoney micros={roundingMicros} decimals={6} />.
        </p>
      )}
      {charge.outcome === 'failed' && <p>The service failed this request, so it costs nothing.</p>}
      <p>
        <strong>
          Charge: <ExactMoney micros={charge.costMicros} decimals={6} />
        </strong>
        , by the price <code>{charge.priceId}</code>.
      </p>
      {(since !== undefined || isLoading) && (
        // A line of its own, so that it moves nothing when it is known.
        <p>In force since {since === undefined ? '…' : <Time at={since} />}.</p>
      )}
      {savedMicros !== null && savedMicros !== '0' && (
        <p>
          Saved by the cache: <ExactMoney micros={savedMicros} decimals={6} />.
        </p>
      )}
    </Stack>
  )
}
