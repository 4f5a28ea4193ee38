import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { limitColumns } from '../../app/limit-columns.tsx'
import { useReason } from '../../app/session.ts'
import { Loaded } from '../../app/states.tsx'
import { Badge, Card } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'

type Props = { readonly organizationId: string; readonly tier: Schemas['Tier']['id'] }

/** The limits that an organization has where it has none of its own. */
export function TierCard({ organizationId, tier }: Props) {
  const mayRead = useReason(organizationId, 'tiers:read') === null
  const query = useQuery({
    queryKey: ['tiers'],
    queryFn: ({ signal }) => api('GET /api/v1/tiers', {}, { signal }),
    enabled: mayRead,
  })
  if (!mayRead) return null
  return (
    <Card title="Tier" actions={<Badge>{tier}</Badge>} isFlush>
      <Loaded query={query} what="The tier’s limits" rows={2}>
        {({ data }) => <Limits tier={data.find(({ id }) => id === tier)} />}
      </Loaded>
    </Card>
  )
}

type Limit = Schemas['TierLimit']

function Limits({ tier }: { readonly tier: Schemas['Tier'] | undefined }) {
  const note = { padding: '4px 16px 16px' }
  if (tier === undefined || tier.limits.length === 0) return <p style={note}>No limits come with it.</p>
  const columns: readonly Column<Limit>[] = [
    { key: 'model', head: 'Model', isOneLine: true, cell: ({ model }) => (model === '*' ? 'all together' : model) },
    ...limitColumns,
  ]
  return <Table name={`Limits of ${tier.id}`} columns={columns} items={tier.limits} keyOf={({ model }) => model} />
}
