import { pagePath } from '../../app/paths.ts'
import { useCurrency } from '../../app/queries.ts'
import { formatCount } from '../../format/figures.ts'
import { formatMoney } from '../../format/money.ts'
import { Name } from '../../kit/content.tsx'
import { Link } from '../../kit/link.tsx'
import { Card } from '../../kit/page.tsx'
import { Table } from '../../kit/table.tsx'
import type { Overview } from './overview.ts'

type Props = { readonly organizationId: string; readonly keys: Overview['busiestKeys'] }

export function BusiestKeys({ organizationId, keys }: Props) {
  const currency = useCurrency()
  return (
    <Card title="Busiest keys today" isFlush>
      {keys.length === 0 ? (
        <p style={{ padding: '4px 16px 16px' }}>No requests today.</p>
      ) : (
        <Table
          name="Busiest keys today"
          items={keys}
          keyOf={({ id }) => id}
          columns={[
            {
              key: 'name',
              head: 'API key',
              cell: ({ id, name }) => (
                <Link href={pagePath('key', { organizationId, apiKeyId: id })}>
                  <Name>{name}</Name>
                </Link>
              ),
            },
            { key: 'requests', head: 'Requests', isRight: true, cell: ({ requests }) => formatCount(requests) },
            {
              key: 'cost',
              head: `Cost, ${currency}`,
              isRight: true,
              phone: 'side',
              cell: ({ costMicros }) => formatMoney(costMicros, { currency }),
            },
          ]}
        />
      )}
    </Card>
  )
}
