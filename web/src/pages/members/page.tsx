import { useMemo, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { MemberActionDialog, stateOf, useMemberEntries, type MemberAction } from '../../app/members/member-actions.tsx'
import { pagePath, type PageParams } from '../../app/paths.ts'
import { membersQuery, useNames, useOwnRoles, useRoleNames, type Member } from '../../app/queries.ts'
import { isShownProjects, roleChoices } from '../../app/roles.ts'
import { useSearch } from '../../app/router.tsx'
import { useMembership, useReason } from '../../app/session.ts'
import { useKeys } from '../../app/shortcuts.ts'
import { Loaded, NothingMatches } from '../../app/states.tsx'
import { Button, IconButton } from '../../kit/button.tsx'
import { Name, Time } from '../../kit/content.tsx'
import { Select } from '../../kit/field.tsx'
import { Menu } from '../../kit/layers.tsx'
import { Link } from '../../kit/link.tsx'
import { Badge, Page as Frame, Row, StateTag } from '../../kit/page.tsx'
import { Tabs } from '../../kit/tabs.tsx'
import { SearchField } from '../../kit/search-field.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { oneOf, searchCodec, text } from '../../lib/search-codec.ts'
import { Invitations } from './invitations.tsx'
import { InviteDrawer } from './invite-drawer.tsx'

const states = ['active', 'suspended', 'removed', 'all'] as const
const membersSearch = searchCodec({
  tab: oneOf(['people', 'invitations'], 'people'),
  q: text(),
  /** A built-in role, or the id of one of the organization's own. */
  role: text(),
  state: oneOf(states, 'active'),
})
type Search = ReturnType<typeof membersSearch.read>['state']
type Open = { readonly kind: 'invite' } | { readonly kind: MemberAction; readonly member: Member }

export function Page({ params }: { readonly params: PageParams }) {
  const organizationId = params['organizationId'] ?? ''
  const [search, change] = useSearch(membersSearch)
  const { tab } = search
  const query = useQuery(membersQuery(organizationId))
  const [open, setOpen] = useState<Open | null>(null)
  const reason = useReason(organizationId, 'members:create')
  useKeys(useMemo(() => ({ c: () => (reason === null ? setOpen({ kind: 'invite' }) : undefined) }), [reason]))
  const close = () => setOpen(null)
  const invite = (
    <Button look="primary" icon="plus" shortcut="c" reason={reason} onClick={() => setOpen({ kind: 'invite' })}>
      Invite
    </Button>
  )
  const tabs = [
    { value: 'people', label: 'People' },
    { value: 'invitations', label: 'Invitations' },
  ] as const
  return (
    <Frame title="Members" actions={invite}>
      <Tabs name="Members" tabs={tabs} chosen={tab} onChoice={(chosen) => change({ tab: chosen })}>
        {tab === 'people' && (
          <Loaded query={query} what="The members">
            {(members) => (
              <People
                organizationId={organizationId}
                members={members}
                search={search}
                onSearch={change}
                onOpen={setOpen}
              />
            )}
          </Loaded>
        )}
        {tab === 'invitations' && <Invitations organizationId={organizationId} />}
      </Tabs>
      {open?.kind === 'invite' && <InviteDrawer organizationId={organizationId} onClose={close} />}
      {open !== null && open.kind !== 'invite' && (
        <MemberActionDialog organizationId={organizationId} member={open.member} action={open.kind} onClose={close} />
      )}
    </Frame>
  )
}

type PeopleProps = TableProps & {
  readonly search: Search
  readonly onSearch: (changes: Partial<Search>) => void
}

function People({ search: { q, role, state }, onSearch, members, ...rest }: PeopleProps) {
  const own = useOwnRoles(rest.organizationId).map(({ id, name }) => ({ value: id, label: name }))
  const found = members.filter(
    (member) =>
      (role === '' || (member.roleId ?? member.role) === role) &&
      (state === 'all' || stateOf(member) === state) &&
      `${member.name} ${member.email}`.toLowerCase().includes(q.toLowerCase()),
  )
  return (
    <>
      <div role="search" aria-label="Filters">
        <Row>
          <SearchField label="Name or email" value={q} onText={(typed) => onSearch({ q: typed })} />
          <Select
            isInline
            label="Role"
            value={role}
            choices={[{ value: '', label: 'any' }, ...roleChoices, ...own]}
            onChoice={(chosen) => onSearch({ role: chosen })}
          />
          <Select
            isInline
            label="State"
            value={state}
            choices={states.map((value) => ({ value, label: value }))}
            onChoice={(chosen) => onSearch({ state: chosen })}
          />
        </Row>
      </div>
      {found.length === 0 ? (
        <NothingMatches what="members" onClear={() => onSearch({ q: '', role: '', state: 'active' })} />
      ) : (
        <MemberTable {...rest} members={found} all={members} />
      )}
    </>
  )
}

type TableProps = {
  readonly organizationId: string
  readonly members: readonly Member[]
  readonly onOpen: (open: Open) => void
}

function MemberTable({ organizationId, members, all, onOpen }: TableProps & { readonly all: readonly Member[] }) {
  const nameOf = useNames(organizationId)
  const roleOf = useRoleNames(organizationId)
  const own = useMembership(organizationId)?.memberId
  const entriesOf = useMemberEntries(organizationId, all)
  const columns: readonly Column<Member>[] = [
    {
      key: 'name',
      head: 'Name',
      cell: ({ id, name }) => (
        <>
          <Link href={pagePath('member', { organizationId, memberId: id })}>
            <Name>{name}</Name>
          </Link>{' '}
          {id === own && <Badge>you</Badge>}
        </>
      ),
    },
    { key: 'email', head: 'Email', cell: ({ email }) => <Name>{email}</Name> },
    {
      key: 'role',
      head: 'Role',
      phone: 'side',
      cell: (member) => (
        <>
          <Name>{roleOf(member)}</Name> {stateOf(member) !== 'active' && <Badge>{stateOf(member)}</Badge>}
        </>
      ),
    },
    {
      key: 'projects',
      head: 'Projects',
      cell: ({ role, projectIds }) =>
        isShownProjects(role) ? projectIds.map((id) => nameOf(id)).join(', ') || 'none' : 'all',
    },
    {
      key: 'signs-in',
      head: 'Signs in',
      phone: 'off',
      cell: ({ signsIn }) => (signsIn ? 'yes' : <StateTag mood="warn">not yet</StateTag>),
    },
    { key: 'since', head: 'Since', phone: 'off', cell: ({ createdAt }) => <Time at={createdAt} isAgo /> },
    {
      key: 'actions',
      head: '',
      isRight: true,
      phone: 'side',
      cell: (member) =>
        member.removedAt === null && (
          <Menu
            name={`Actions for ${member.name}`}
            trigger={<IconButton icon="more" name={`Actions for ${member.name}`} isSmall />}
            entries={entriesOf(member, (action) => onOpen({ kind: action, member }))}
          />
        ),
    },
  ]
  return <Table name="Members" columns={columns} items={members} keyOf={({ id }) => id} />
}
