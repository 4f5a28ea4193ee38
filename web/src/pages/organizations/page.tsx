import { useMemo, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { Confirm } from '../../app/confirm.tsx'
import { NameDrawer } from '../../app/name-drawer.tsx'
import { organizationsQuery } from '../../app/queries.ts'
import { useReason } from '../../app/session.ts'
import { useKeys } from '../../app/shortcuts.ts'
import { Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Name, Time } from '../../kit/content.tsx'
import { Page as Frame, StateTag } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'

type Organization = Schemas['Organization']

export function Page() {
  const query = useQuery(organizationsQuery)
  const [isOpen, setOpen] = useState(false)
  const [switched, setSwitched] = useState<Organization | null>(null)
  const disableReason = useReason(null, 'organizations:disable')
  useKeys(useMemo(() => ({ c: () => setOpen(true) }), []))
  const columns: readonly Column<Organization>[] = [
    { key: 'name', head: 'Name', cell: ({ name }) => <Name>{name}</Name> },
    {
      key: 'state',
      head: 'State',
      phone: 'side',
      cell: ({ disabledAt }) =>
        disabledAt === null ? <StateTag mood="good">Active</StateTag> : <StateTag mood="off">Disabled</StateTag>,
    },
    { key: 'tier', head: 'Tier', cell: ({ tier }) => tier },
    { key: 'id', head: 'Id', phone: 'off', cell: ({ id }) => <code>{id}</code> },
    { key: 'created', head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} isAgo /> },
    {
      key: 'actions',
      head: '',
      isRight: true,
      phone: 'side',
      cell: (one) => (
        <Button isSmall reason={disableReason} onClick={() => setSwitched(one)}>
          {one.disabledAt === null ? 'Disable…' : 'Enable…'}
        </Button>
      ),
    },
  ]
  return (
    <Frame
      title="Organizations"
      actions={
        <Button look="primary" icon="plus" shortcut="c" onClick={() => setOpen(true)}>
          Create organization
        </Button>
      }
    >
      <Loaded query={query} what="The organizations">
        {(organizations) => (
          <Table name="Organizations" columns={columns} items={organizations} keyOf={({ id }) => id} />
        )}
      </Loaded>
      {isOpen && <CreateDrawer onClose={() => setOpen(false)} />}
      {switched !== null && <SwitchDialog organization={switched} onClose={() => setSwitched(null)} />}
    </Frame>
  )
}

function CreateDrawer({ onClose }: { readonly onClose: () => void }) {
  const change = useChange(
    (body: { readonly name: string }, options) => api('POST /api/v1/organizations', { body }, options),
    { touches: [['organizations']], onDone: onClose },
  )
  return (
    <NameDrawer
      title="Create organization"
      verb="Create organization"
      hint="It comes with a project of its own."
      change={change}
      onClose={onClose}
    />
  )
}

function SwitchDialog({
  organization: { id, name, disabledAt },
  onClose,
}: {
  readonly organization: Organization
  readonly onClose: () => void
}) {
  const isOn = disabledAt === null
  const params = { organizationId: id }
  const change = useChange(
    (_: null, options) =>
      isOn
        ? api('POST /api/v1/organizations/{organizationId}/disable', { params }, options)
        : api('POST /api/v1/organizations/{organizationId}/enable', { params }, options),
    { touches: [['organizations']], onDone: onClose },
  )
  return (
    <Confirm
      title={`${isOn ? 'Disable' : 'Enable'} ${name}`}
      verb={isOn ? 'Disable organization' : 'Enable organization'}
      isBad={isOn}
      {...(isOn && { typedName: name })}
      change={change}
      onClose={onClose}
      onConfirm={() => void change.run(null)}
    >
      {isOn
        ? 'Every request with its keys is refused at once, until it is enabled again.'
        : 'Its keys are accepted again, by the rules they have.'}
    </Confirm>
  )
}
