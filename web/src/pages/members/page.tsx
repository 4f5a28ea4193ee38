import { useMemo, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { Confirm } from '../../app/confirm.tsx'
import type { PageParams } from '../../app/paths.ts'
import { membersQuery, projectsQuery, useNames, type Member } from '../../app/queries.ts'
import { roleChoices, roleWords, type Role } from '../../app/roles.ts'
import { useSearch } from '../../app/router.tsx'
import { useMembership, useReason } from '../../app/session.ts'
import { useKeys } from '../../app/shortcuts.ts'
import { Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { Name, Time } from '../../kit/content.tsx'
import { CheckboxGroup, Select } from '../../kit/field.tsx'
import { Drawer, Menu } from '../../kit/layers.tsx'
import { Badge, Page as Frame, Tabs } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { oneOf, searchCodec } from '../../lib/search-codec.ts'
import { Invitations } from './invitations.tsx'
import { InviteDrawer } from './invite-drawer.tsx'
import { RoleTable } from './role-table.tsx'

const membersSearch = searchCodec({ tab: oneOf(['people', 'invitations', 'roles'], 'people') })
type Open = { readonly kind: 'invite' } | { readonly kind: 'change' | 'remove'; readonly member: Member }

export function Page({ params }: { readonly params: PageParams }) {
  const organizationId = params['organizationId'] ?? ''
  const [{ tab }, change] = useSearch(membersSearch)
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
    { value: 'roles', label: 'Roles' },
  ] as const
  return (
    <Frame title="Members" actions={invite}>
      <Tabs name="Members" tabs={tabs} chosen={tab} onChoice={(chosen) => change({ tab: chosen })}>
        {tab === 'people' && (
          <Loaded query={query} what="The members">
            {(members) => <MemberTable organizationId={organizationId} members={members} onOpen={setOpen} />}
          </Loaded>
        )}
        {tab === 'invitations' && <Invitations organizationId={organizationId} />}
        {tab === 'roles' && <RoleTable />}
      </Tabs>
      {open?.kind === 'invite' && <InviteDrawer organizationId={organizationId} onClose={close} />}
      {open?.kind === 'change' && <ChangeDrawer organizationId={organizationId} member={open.member} onClose={close} />}
      {open?.kind === 'remove' && <RemoveDialog organizationId={organizationId} member={open.member} onClose={close} />}
    </Frame>
  )
}

type TableProps = {
  readonly organizationId: string
  readonly members: readonly Member[]
  readonly onOpen: (open: Open) => void
}

function MemberTable({ organizationId, members, onOpen }: TableProps) {
  const nameOf = useNames(organizationId)
  const own = useMembership(organizationId)?.memberId
  const updateReason = useReason(organizationId, 'members:update')
  const removeReason = useReason(organizationId, 'members:remove')
  const owners = members.filter(({ role, removedAt }) => role === 'owner' && removedAt === null)
  const removeReasonOf = (member: Member) =>
    owners.length === 1 && owners[0]?.id === member.id ? 'The last owner cannot be removed.' : removeReason
  const columns: readonly Column<Member>[] = [
    {
      key: 'name',
      head: 'Name',
      cell: ({ id, name }) => (
        <>
          <Name>{name}</Name> {id === own && <Badge>you</Badge>}
        </>
      ),
    },
    { key: 'email', head: 'Email', cell: ({ email }) => <Name>{email}</Name> },
    {
      key: 'role',
      head: 'Role',
      phone: 'side',
      cell: ({ role, removedAt }) => (removedAt === null ? role : 'removed'),
    },
    {
      key: 'projects',
      head: 'Projects',
      cell: ({ role, projectIds }) =>
        role === 'developer' ? projectIds.map((id) => nameOf(id)).join(', ') || 'none' : 'all',
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
            entries={[
              {
                kind: 'action',
                label: 'Role and projects…',
                reason: updateReason,
                act: () => onOpen({ kind: 'change', member }),
              },
              {
                kind: 'action',
                label: 'Remove…',
                isBad: true,
                reason: removeReasonOf(member),
                act: () => onOpen({ kind: 'remove', member }),
              },
            ]}
          />
        ),
    },
  ]
  return (
    <Table
      name="Members"
      columns={columns}
      items={members.filter(({ removedAt }) => removedAt === null)}
      keyOf={({ id }) => id}
    />
  )
}

type MemberProps = { readonly organizationId: string; readonly member: Member; readonly onClose: () => void }

function ChangeDrawer({ organizationId, member, onClose }: MemberProps) {
  const [role, setRole] = useState<Role>(member.role)
  const [projectIds, setProjects] = useState<readonly string[]>(member.projectIds)
  const projects = useQuery(projectsQuery(organizationId)).data ?? []
  const params = { organizationId, memberId: member.id }
  const change = useChange(
    async (_: null) => {
      if (role !== member.role)
        await api('PATCH /api/v1/organizations/{organizationId}/members/{memberId}', { params, body: { role } })
      const path = '/api/v1/organizations/{organizationId}/projects/{projectId}/members/{memberId}'
      const added = projectIds.filter((id) => !member.projectIds.includes(id))
      const gone = member.projectIds.filter((id) => !projectIds.includes(id))
      for (const projectId of added) await api(`PUT ${path}`, { params: { ...params, projectId } })
      for (const projectId of gone) await api(`DELETE ${path}`, { params: { ...params, projectId } })
    },
    { touches: [['members', organizationId]], onDone: onClose },
  )
  const foot = (
    <Button type="submit" look="primary" isBusy={change.isBusy}>
      Save
    </Button>
  )
  return (
    <Drawer
      title={`Role and projects of ${member.name}`}
      isOpen
      onClose={onClose}
      foot={foot}
      onSubmit={() => void change.run(null)}
    >
      <ChangeProblem problem={change.problem} />
      <Select
        label="Role"
        value={role}
        choices={roleChoices}
        onChoice={setRole}
        hint={`${roleWords[role]} It counts at once, for open sessions too.`}
      />
      <CheckboxGroup
        label="Projects that a developer sees"
        choices={projects.map(({ id, name }) => ({ value: id, label: name }))}
        chosen={projectIds}
        onChange={setProjects}
      />
    </Drawer>
  )
}

function RemoveDialog({ organizationId, member, onClose }: MemberProps) {
  const change = useChange(
    (_: null) =>
      api('DELETE /api/v1/organizations/{organizationId}/members/{memberId}', {
        params: { organizationId, memberId: member.id },
      }),
    {
      touches: [
        ['members', organizationId],
        ['keys', organizationId],
      ],
      onDone: onClose,
    },
  )
  return (
    <Confirm
      title={`Remove ${member.name}`}
      verb="Remove member"
      typedName={member.name}
      change={change}
      onClose={onClose}
      onConfirm={() => void change.run(null)}
    >
      The keys they own are revoked and their sessions end at once; running answers end within half a second. Keys that
      they made for others stay.
    </Confirm>
  )
}
