import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Invitation } from '../../api/answers.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { readAll } from '../../app/queries.ts'
import { useReason } from '../../app/session.ts'
import { Empty, Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { formatUntil } from '../../format/time.ts'
import { Button } from '../../kit/button.tsx'
import { Name, Time } from '../../kit/content.tsx'
import { StateTag } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'

export function Invitations({ organizationId }: { readonly organizationId: string }) {
  const query = useQuery({
    queryKey: ['invitations', organizationId],
    queryFn: ({ signal }) =>
      readAll((after) =>
        api(
          'GET /api/v1/organizations/{organizationId}/invitations',
          { params: { organizationId }, query: after === undefined ? {} : { after } },
          { signal },
        ),
      ),
  })
  const reason = useReason(organizationId, 'members:create')
  const change = useChange(
    (invitationId: string) =>
      api('DELETE /api/v1/organizations/{organizationId}/invitations/{invitationId}', {
        params: { organizationId, invitationId },
      }),
    { touches: [['invitations', organizationId]] },
  )
  const columns: readonly Column<Invitation>[] = [
    { key: 'email', head: 'Email', cell: ({ email }) => <Name>{email}</Name> },
    { key: 'state', head: 'State', phone: 'side', cell: (invitation) => <InvitationState invitation={invitation} /> },
    { key: 'role', head: 'Role', cell: ({ role }) => role },
    { key: 'made', head: 'Invited', cell: ({ createdAt }) => <Time at={createdAt} isAgo /> },
    { key: 'by', head: 'By', phone: 'off', cell: ({ invitedBy }) => <Name>{invitedBy ?? '–'}</Name> },
    {
      key: 'actions',
      head: '',
      isRight: true,
      phone: 'side',
      cell: (invitation) =>
        isOpen(invitation) && (
          <Button isSmall isBusy={change.isBusy} reason={reason} onClick={() => void change.run(invitation.id)}>
            Withdraw
          </Button>
        ),
    },
  ]
  return (
    <Loaded query={query} what="The invitations">
      {(invitations) => (
        <>
          <ChangeProblem problem={change.problem} />
          {invitations.length === 0 ? (
            <Empty>Nobody is invited at the moment.</Empty>
          ) : (
            <Table name="Invitations" columns={columns} items={invitations} keyOf={({ id }) => id} />
          )}
        </>
      )}
    </Loaded>
  )
}

function isOpen({ acceptedAt, withdrawnAt, endsAt }: Invitation): boolean {
  return acceptedAt === null && withdrawnAt === null && Date.parse(endsAt) > Date.now()
}

function InvitationState({ invitation }: { readonly invitation: Invitation }) {
  if (invitation.acceptedAt !== null) return <StateTag mood="good">Accepted</StateTag>
  if (invitation.withdrawnAt !== null) return <StateTag mood="off">Withdrawn</StateTag>
  if (!isOpen(invitation)) return <StateTag mood="off">Over</StateTag>
  return (
    <StateTag mood="info" icon="clock">
      Ends {formatUntil(invitation.endsAt)}
    </StateTag>
  )
}
