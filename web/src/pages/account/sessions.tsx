import { useQuery } from '@tanstack/react-query'
import { api, type AnswerOf } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { Loaded } from '../../app/states.tsx'
import { sessionColumns } from '../../app/session-columns.tsx'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'

type OwnSession = AnswerOf<'GET /api/v1/sessions'>['data'][number]

export function SessionsCard() {
  const query = useQuery({
    queryKey: ['sessions'],
    queryFn: ({ signal }) => api('GET /api/v1/sessions', {}, { signal }),
  })
  const end = useChange((sessionId: string) => api('DELETE /api/v1/sessions/{sessionId}', { params: { sessionId } }), {
    touches: [['sessions']],
  })
  const endOthers = useChange((_: null) => api('DELETE /api/v1/sessions', {}), { touches: [['sessions']] })
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
  const endAll = others > 0 && (
    <Button isSmall isBusy={endOthers.isBusy} onClick={() => void endOthers.run(null)}>
      End all others
    </Button>
  )
  return (
    <Card title="Sessions" isFlush actions={endAll}>
      <ChangeProblem problem={end.problem ?? endOthers.problem} />
      <Loaded query={query} what="Your sessions" rows={2}>
        {({ data }) => <Table name="Sessions" columns={columns} items={data} keyOf={({ id }) => id} />}
      </Loaded>
    </Card>
  )
}
