import { addressOf, api } from '../../api/client.ts'
import { useAnswer } from '../../app/use-answer.ts'
import { formatCount, formatDuration } from '../../format/figures.ts'
import { formatMoney } from '../../format/money.ts'
import { Time } from '../../kit/content.tsx'
import { Card } from '../../kit/page.tsx'
import { Skeleton } from '../../kit/skeleton.tsx'
import { Table } from '../../kit/table.tsx'

/** What the key was last used for, and the way to all of it. */
export function LastRequests({ currency }: { readonly currency: string }) {
  const { data, isPending } = useAnswer(() => api('GET /api/v1/portal/requests', {}))
  const download = <a href={addressOf('/api/v1/portal/statement', {})}>Statement of 30 days, CSV</a>
  return (
    <Card title="Last requests" actions={download} isFlush>
      {isPending && <Skeleton rows={4} />}
      {data !== undefined && data.data.length === 0 && (
        <p style={{ padding: '4px 16px 16px' }}>There is no answered request of it.</p>
      )}
      {data !== undefined && data.data.length > 0 && (
        <Table
          name="Last requests"
          items={data.data}
          keyOf={({ requestId, kind }) => `${requestId} ${kind}`}
          columns={[
            {
              key: 'id',
              head: 'Request',
              cell: ({ requestId }) => <code style={{ overflowWrap: 'anywhere' }}>{requestId}</code>,
            },
            { key: 'at', head: 'Time', cell: ({ at }) => <Time at={at} /> },
            { key: 'model', head: 'Model', isOneLine: true, cell: ({ model }) => model },
            {
              key: 'outcome',
              head: 'Outcome',
              phone: 'side',
              cell: ({ kind, outcome }) => (kind === 'reversal' ? 'charge voided' : outcome),
            },
            {
              key: 'input',
              head: 'Input',
              isRight: true,
              cell: ({ inputTokens, cachedTokens }) =>
                `${formatCount(inputTokens)}${cachedTokens === 0 ? '' : `, ${formatCount(cachedTokens)} cached`}`,
            },
            { key: 'output', head: 'Output', isRight: true, cell: ({ outputTokens }) => formatCount(outputTokens) },
            {
              key: 'took',
              head: 'Took',
              isRight: true,
              phone: 'off',
              cell: ({ durationMs }) => formatDuration(durationMs),
            },
            {
              key: 'cost',
              head: 'Cost',
              isRight: true,
              cell: ({ costMicros }) => (costMicros === null ? '–' : formatMoney(costMicros, { currency })),
            },
          ]}
        />
      )}
    </Card>
  )
}
