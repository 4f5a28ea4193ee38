import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api, type AnswerOf } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { Confirm } from '../../app/confirm.tsx'
import { endedWords } from '../../app/members/member-actions.tsx'
import { Loaded } from '../../app/states.tsx'
import { sessionColumns } from '../../app/session-columns.tsx'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { agentsQuery } from './agents.tsx'

type OwnSession = AnswerOf<'GET /api/v1/sessions'>['data'][number]

export function SessionsCard() {
  const query = useQuery({
    queryKey: ['sessions'],
    queryFn: ({ signal }) => api('GET /api/v1/sessions', {}, { signal }),
  })
  const agents = useQuery(agentsQuery).data?.data.length ?? 0
  const [isAsking, setAsking] = useState(false)
  const end = useChange((sessionId: string) => api('DELETE /api/v1/sessions/{sessionId}', { params: { sessionId } }), {
    touches: [['sessions']],
  })
  const columns: readonly Column<OwnSession>[] = [
    ...sessionColumns,
    {
      key: 'actions',
      head: '',
      isRight: true,
      phone: 'side',
      cell: ({ id, isCurrent }) =>
        !isCurrent && (
          <Button isSmall isBusy={end.isBusy} onClick={() => void end.run(id)}>
            End
          </Button>
        ),
    },
  ]
  const others = query.data?.data.filter(({ isCurrent }) => !isCurrent).length ?? 0
  const endAll = (others > 0 || agents > 0) && (
    <Button isSmall onClick={() => setAsking(true)}>
      End all others…
    </Button>
  )
  return (
    <Card title="Sessions" isFlush actions={endAll}>
      <ChangeProblem problem={end.problem} />
      <Loaded query={query} what="Your sessions" rows={2}>
        {({ data }) => <Table name="Sessions" columns={columns} items={data} keyOf={({ id }) => id} />}
      </Loaded>
      {isAsking && <EndOthers sessions={others} agents={agents} onClose={() => setAsking(false)} />}
    </Card>
  )
}

type EndProps = { readonly sessions: number; readonly agents: number; readonly onClose: () => void }

/** Whoever had got in may have signed in agents too, so they go with the sessions. */
function EndOthers({ sessions, agents, onClose }: EndProps) {
  const change = useChange((_: null) => api('DELETE /api/v1/sessions', {}), {
    touches: [['sessions'], ['agents']],
    onDone: onClose,
  })
  return (
    <Confirm
      title="End all other sessions"
      verb="End all others"
      change={change}
      onClose={onClose}
      onConfirm={() => void change.run(null)}
    >
      {endedWords({ sessions, agents })}. You stay signed in here alone.
    </Confirm>
  )
}
