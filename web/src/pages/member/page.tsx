import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { MemberActionDialog, stateOf, useMemberEntries, type MemberAction } from '../../app/members/member-actions.tsx'
import { pagePath, type PageParams } from '../../app/paths.ts'
import { useMemberList, useNames, useRoleNames, type Member } from '../../app/queries.ts'
import { isShownProjects, roleWords } from '../../app/roles.ts'
import { Loaded } from '../../app/states.tsx'
import { Button, LinkButton } from '../../kit/button.tsx'
import { Name, Time } from '../../kit/content.tsx'
import { Menu } from '../../kit/layers.tsx'
import { Card, KeyValue, Page as Frame, StateTag, type Mood } from '../../kit/page.tsx'
import { MemberHistory } from './member-history.tsx'
import { MemberKeys } from './member-keys.tsx'
import { MemberSessions } from './member-sessions.tsx'

const moods: Readonly<Record<ReturnType<typeof stateOf>, Mood>> = { active: 'good', suspended: 'warn', removed: 'off' }

/** One member: what they may, where they are signed in, their keys, and what they have done. */
export function Page({ params }: { readonly params: PageParams }) {
  const { organizationId = '', memberId = '' } = params
  const [action, setAction] = useState<MemberAction | null>(null)
  const query = useQuery({
    queryKey: ['member', organizationId, memberId],
    queryFn: ({ signal }) =>
      api(
        'GET /api/v1/organizations/{organizationId}/members/{memberId}',
        { params: { organizationId, memberId } },
        { signal },
      ),
  })
  const member = query.data
  return (
    <Frame
      title={member === undefined ? 'Member' : <Name>{member.name}</Name>}
      actions={member !== undefined && <Actions organizationId={organizationId} member={member} onAction={setAction} />}
    >
      <Loaded query={query} what="The member">
        {(found) => (
          <>
            <Card title="Membership">
              <Facts organizationId={organizationId} member={found} />
            </Card>
            <MemberSessions organizationId={organizationId} member={found} />
            <MemberKeys organizationId={organizationId} memberId={found.id} />
            <MemberHistory organizationId={organizationId} memberId={found.id} />
          </>
        )}
      </Loaded>
      {member !== undefined && action !== null && (
        <MemberActionDialog
          organizationId={organizationId}
          member={member}
          action={action}
          onClose={() => setAction(null)}
        />
      )}
    </Frame>
  )
}

type ActionsProps = {
  readonly organizationId: string
  readonly member: Member
  readonly onAction: (action: MemberAction) => void
}

function Actions({ organizationId, member, onAction }: ActionsProps) {
  const entriesOf = useMemberEntries(organizationId, useMemberList(organizationId))
  return (
    <>
      <LinkButton href={pagePath('members', { organizationId })} icon="left">
        Members
      </LinkButton>
      {stateOf(member) !== 'removed' && (
        <Menu
          name={`Change ${member.name}`}
          trigger={<Button icon="more">Change</Button>}
          entries={entriesOf(member, onAction)}
        />
      )}
    </>
  )
}

function Facts({ organizationId, member }: { readonly organizationId: string; readonly member: Member }) {
  const nameOf = useNames(organizationId)
  const roleOf = useRoleNames(organizationId)
  const { email, role, roleId, projectIds, signsIn, createdAt } = member
  const state = stateOf(member)
  const projects = isShownProjects(role) ? projectIds.map((id) => nameOf(id)).join(', ') || 'none' : 'all'
  return (
    <KeyValue
      rows={[
        [
          'State',
          <StateTag key="state" mood={moods[state]}>
            {state}
          </StateTag>,
        ],
        ['Email', <Name key="email">{email}</Name>],
        [
          'Role',
          roleId === null ? (
            `${role}: ${roleWords[role]}`
          ) : (
            <Name key="role">{`${roleOf(member)}, a part of ${role}`}</Name>
          ),
        ],
        ['Projects', <Name key="projects">{projects}</Name>],
        [
          'Signs in',
          signsIn ? (
            'yes'
          ) : (
            <StateTag key="signs-in" mood="warn">
              not yet: an invitation or a link lets them in
            </StateTag>
          ),
        ],
        ['Since', <Time key="since" at={createdAt} />],
      ]}
    />
  )
}
