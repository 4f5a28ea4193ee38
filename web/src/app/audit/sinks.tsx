import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../api/types.ts'
import { DeliveryState } from '../delivery-state.tsx'
import { useReason } from '../session.ts'
import { Loaded } from '../states.tsx'
import { Name, Time } from '../../kit/content.tsx'
import { Card } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { readSinks } from './queries.ts'

type Sink = Schemas['AuditSink']
type Props = { readonly organizationId: string | null }

const columns: readonly Column<Sink>[] = [
  { key: 'name', head: 'Name', cell: ({ name }) => <Name>{name}</Name> },
  { key: 'target', head: 'Goes to', cell: ({ target }) => target },
  {
    key: 'state',
    head: 'State',
    phone: 'side',
    cell: (sink) => <DeliveryState receiver={sink} sent={['row', 'rows']} />,
  },
  {
    key: 'delivered',
    head: 'Last delivered',
    cell: ({ lastDeliveredAt }) => (lastDeliveredAt === null ? 'Never' : <Time at={lastDeliveredAt} isAgo />),
  },
]

/** Where the log is sent as it is written, and whether it arrives; nothing where it is sent nowhere. */
export function Sinks({ organizationId }: Props) {
  const isHidden = useReason(organizationId, 'audit-sinks:read') !== null
  const query = useQuery({
    queryKey: ['audit-sinks', organizationId],
    queryFn: ({ signal }) => readSinks(organizationId, signal),
    enabled: !isHidden,
  })
  // Most have none, and a card that comes and goes again would move the log below it.
  if (isHidden || query.isPending || query.data?.length === 0) return null
  return (
    <Card title="Sinks" isFlush>
      <Loaded query={query} what="The sinks" rows={1}>
        {(sinks) => <Table name="Sinks of the log" columns={columns} items={sinks} keyOf={({ id }) => id} />}
      </Loaded>
    </Card>
  )
}
