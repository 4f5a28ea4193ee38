import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, type AnswerOf } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Name, Time } from '../../kit/content.tsx'
import { Card } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'

type Agent = AnswerOf<'GET /api/v1/me/agents'>['data'][number]

export const agentsQuery = queryOptions({
  queryKey: ['agents'],
  queryFn: ({ signal }) => api('GET /api/v1/me/agents', {}, { signal }),
})

/** The coding agents that somebody is signed in to; not there for whoever has none. */
export function AgentsCard() {
  const query = useQuery(agentsQuery)
  const end = useChange((agentId: string) => api('DELETE /api/v1/me/agents/{agentId}', { params: { agentId } }), {
    touches: [['agents']],
  })
  const columns: readonly Column<Agent>[] = [
    { key: 'client', head: 'Agent', cell: ({ client }) => <Name>{client}</Name> },
    { key: 'address', head: 'Address', cell: ({ address }) => address },
    { key: 'began', head: 'Began', cell: ({ createdAt }) => <Time at={createdAt} isAgo /> },
    { key: 'ends', head: 'Ends', phone: 'off', cell: ({ endsAt }) => <Time at={endsAt} /> },
    {
      key: 'actions',
      head: '',
      isRight: true,
      phone: 'side',
      cell: ({ id }) => (
        <Button isSmall isBusy={end.isBusy} onClick={() => void end.run(id)}>
          Sign out
        </Button>
      ),
    },
  ]
  if (query.data?.data.length === 0) return null
  return (
    <Card title="Coding agents" isFlush>
      <ChangeProblem problem={end.problem} />
      <Loaded query={query} what="Your coding agents" rows={1}>
        {({ data }) => <Table name="Coding agents" columns={columns} items={data} keyOf={({ id }) => id} />}
      </Loaded>
    </Card>
  )
}
