import { useMemo, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { Confirm } from '../confirm.tsx'
import { modelIds } from '../models.ts'
import { pricesQuery, type Price } from '../queries.ts'
import { useReason } from '../session.ts'
import { useKeys } from '../shortcuts.ts'
import { Empty, Loaded } from '../states.tsx'
import { useChange } from '../use-change.ts'
import { formatRate } from '../../format/money.ts'
import { Button } from '../../kit/button.tsx'
import { Time } from '../../kit/content.tsx'
import { Badge, Card, Grid, KeyValue, Page as Frame, StateTag } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { Calculator } from './calculator.tsx'
import { kinds, type RateName } from './kinds.ts'
import { newestFirst, priceInForce } from './price-in-force.ts'
import { PriceDrawer } from './price-drawer.tsx'

/** What requests cost, as an organization pays it; without one, all prices of the installation. */
export function PricesPage({ organizationId }: { readonly organizationId: string | null }) {
  const query = useQuery(pricesQuery(organizationId))
  const isOfAll = organizationId === null
  const [isOpen, setOpen] = useState(false)
  const [withdrawn, setWithdrawn] = useState<Price | null>(null)
  const reason = useReason(null, 'prices:update')
  useKeys(useMemo(() => ({ c: () => (reason === null ? setOpen(true) : undefined) }), [reason]))
  const set = reason === null && (
    <Button look="primary" icon="plus" shortcut="c" onClick={() => setOpen(true)}>
      Set price
    </Button>
  )
  return (
    <Frame title={isOfAll ? 'All prices' : 'Prices'} actions={set}>
      <Loaded query={query} what="The prices">
        {(prices) =>
          prices.length === 0 ? (
            <Empty action={set}>
              {reason === null ? 'No prices. Requests are recorded without a cost.' : 'This service does not charge.'}
            </Empty>
          ) : (
            <>
              <Current priceOf={priceInForce(prices, organizationId)} />
              <Calculator priceOf={priceInForce(prices, organizationId)} />
              <History prices={prices} isOfAll={isOfAll} mayChange={reason === null} onWithdraw={setWithdrawn} />
            </>
          )
        }
      </Loaded>
      {isOpen && <PriceDrawer organizationId={organizationId} onClose={() => setOpen(false)} />}
      {withdrawn !== null && <Withdraw price={withdrawn} onClose={() => setWithdrawn(null)} />}
    </Frame>
  )
}

/** What each model costs now. */
function Current({ priceOf }: { readonly priceOf: (model: string) => Price | undefined }) {
  return (
    <Grid>
      {modelIds.map((model) => {
        const price = priceOf(model)
        const isOwn = price?.rates && price.organizationId !== null
        return (
          <Card key={model} title={model} actions={isOwn && <Badge>your own price</Badge>}>
            {price?.rates ? <Rates price={price} rates={price.rates} /> : <p>No price: requests cost nothing.</p>}
          </Card>
        )
      })}
    </Grid>
  )
}

function Rates({
  price: { currency, effectiveAt },
  rates,
}: {
  readonly price: Price
  readonly rates: NonNullable<Price['rates']>
}) {
  return (
    <KeyValue
      rows={[
        ...kinds.map(([field, name]) => [name, `${formatRate(rates[field], currency)} a million`] as const),
        ['In force since', <Time key="since" at={effectiveAt} />],
      ]}
    />
  )
}

type HistoryProps = {
  readonly prices: readonly Price[]
  readonly isOfAll: boolean
  readonly mayChange: boolean
  readonly onWithdraw: (price: Price) => void
}

function History({ prices, isOfAll, mayChange, onWithdraw }: HistoryProps) {
  const sorted = prices.toSorted(newestFirst)
  const rate = (price: Price, field: RateName) =>
    price.rates === null ? 'ends' : formatRate(price.rates[field], price.currency)
  const isToCome = ({ effectiveAt }: Price) => Date.parse(effectiveAt) > Date.now()
  const columns: readonly Column<Price>[] = [
    {
      key: 'model',
      head: 'Model',
      cell: ({ model, organizationId }) => (
        <>
          {model} {organizationId !== null && <Badge>{isOfAll ? organizationId : 'own'}</Badge>}
        </>
      ),
    },
    {
      key: 'state',
      head: 'State',
      phone: 'side',
      cell: (price) =>
        isToCome(price) ? (
          <StateTag mood="info" icon="clock">
            Announced
          </StateTag>
        ) : (
          <StateTag mood="off">Begun</StateTag>
        ),
    },
    { key: 'from', head: 'From', cell: ({ effectiveAt }) => <Time at={effectiveAt} /> },
    ...kinds.map(([field, name]) => ({
      key: field,
      head: name,
      isRight: true,
      phone: field === 'input' || field === 'output' ? ('line' as const) : ('off' as const),
      cell: (price: Price) => rate(price, field),
    })),
    ...(mayChange
      ? [
          {
            key: 'actions',
            head: '',
            isRight: true,
            phone: 'side' as const,
            cell: (price: Price) =>
              isToCome(price) && (
                <Button isSmall onClick={() => onWithdraw(price)}>
                  Withdraw…
                </Button>
              ),
          },
        ]
      : []),
  ]
  return (
    <Card title="All of them, newest first, for a million tokens" isFlush>
      <Table name="Prices, newest first" columns={columns} items={sorted} keyOf={({ id }) => id} />
    </Card>
  )
}

function Withdraw({ price, onClose }: { readonly price: Price; readonly onClose: () => void }) {
  const change = useChange((_: null) => api('DELETE /api/v1/prices/{priceId}', { params: { priceId: price.id } }), {
    touches: [['prices']],
    onDone: onClose,
  })
  return (
    <Confirm
      title={`Withdraw the price of ${price.model}`}
      verb="Withdraw price"
      change={change}
      onClose={onClose}
      onConfirm={() => void change.run(null)}
    >
      It is not in force yet. The price before it stays in force.
    </Confirm>
  )
}
