import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { Confirm } from '../../app/confirm.tsx'
import { consequencesQuery, endedWords } from '../../app/members/member-actions.tsx'
import type { Member } from '../../app/queries.ts'
import { useGrantReason, useReason } from '../../app/session.ts'
import { Loaded } from '../../app/states.tsx'
import { sessionColumns } from '../../app/session-columns.tsx'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'

type Listed = Schemas['ListedSession']
const path = '/api/v1/organizations/{organizationId}/members/{memberId}/sessions'

type Props = { readonly organizationId: string; readonly member: Member }

/** Where a member is signed in, each of which can be ended. */
export function MemberSessions({ organizationId, member }: Props) {
  const memberId = member.id
  const readReason = useReason(organizationId, 'sessions:read')
  const lacking = useReason(organizationId, 'sessions:revoke')
  const grantReason = useGrantReason(organizationId, 'sessions:revoke')(member.role)
  const reason = lacking ?? (grantReason === null ? null : `${member.name} ${grantReason}.`)
  const params = { organizationId, memberId }
  const key = ['sessions', organizationId, memberId]
  const query = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => api(`GET ${path}`, { params }, { signal }).then(({ data }) => data),
    enabled: readReason === null,
  })
  const end = useChange(
    (sessionId: string) => api(`DELETE ${path}/{sessionId}`, { params: { ...params, sessionId } }),
    {
      touches: [key],
    },
  )
  const [isAsking, setAsking] = useState(false)
  if (readReason !== null) return null
  const columns: readonly Column<Listed>[] = [
    ...sessionColumns,
    {
      key: 'actions',
      head: '',
      isRight: true,
      phone: 'side',
      cell: ({ id }) => (
        <Button isSmall isBusy={end.isBusy} reason={reason} onClick={() => void end.run(id)}>
          End
        </Button>
      ),
    },
  ]
  const isAny = (query.data?.length ?? 0) > 0
  const all = isAny && (
    <Button isSmall reason={reason} onClick={() => setAsking(true)}>
      End all…
    </Button>
  )
  return (
    <Card title="Sessions" isFlush={isAny} actions={all}>
      <ChangeProblem problem={end.problem} />
      <Loaded query={query} what="The sessions" rows={2}>
        {(sessions) =>
          sessions.length === 0 ? (
            <p>They are signed in nowhere.</p>
          ) : (
            <Table name="Sessions" columns={columns} items={sessions} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
      {isAsking && <EndAll organizationId={organizationId} member={member} onClose={() => setAsking(false)} />}
    </Card>
  )
}

function EndAll({ organizationId, member, onClose }: Props & { readonly onClose: () => void }) {
  const params = { organizationId, memberId: member.id }
  const found = useQuery(consequencesQuery(params)).data
  const change = useChange((_: null) => api(`DELETE ${path}`, { params }), {
    touches: [
      ['sessions', organizationId, member.id],
      ['member', organizationId],
    ],
    onDone: onClose,
  })
  return (
    <Confirm
      title={`End all sessions of ${member.name}`}
      verb="End all sessions"
      change={change}
      onClose={onClose}
      onConfirm={() => void change.run(null)}
    >
      {found === undefined ? 'Reading what it leads to …' : `${endedWords(found)}.`} They may sign in again.
    </Confirm>
  )
}
