import { useMemo, useState } from 'react'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { Confirm } from '../../app/confirm.tsx'
import type { PageParams } from '../../app/paths.ts'
import { readAll } from '../../app/queries.ts'
import { roleChoices, roleWords, type Role } from '../../app/roles.ts'
import { beyond, useGrantReason, useReason } from '../../app/session.ts'
import { useKeys } from '../../app/shortcuts.ts'
import { Empty, Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { SecretDialog } from '../../app/secret-dialog.tsx'
import { Button } from '../../kit/button.tsx'
import { Code, Name, Time } from '../../kit/content.tsx'
import { Select, TextField } from '../../kit/field.tsx'
import { Drawer } from '../../kit/layers.tsx'
import { Banner, Page as Frame, StateTag } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { Secret } from '../../lib/secret.ts'

type ManagementKey = Schemas['ManagementKey']

const managementKeysQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['management-keys', organizationId],
    queryFn: ({ signal }) =>
      readAll((after) =>
        api(
          'GET /api/v1/organizations/{organizationId}/management-keys',
          { params: { organizationId }, query: { limit: 200, ...(after !== undefined && { after }) } },
          { signal },
        ),
      ),
  })

export function Page({ params }: { readonly params: PageParams }) {
  const organizationId = params['organizationId'] ?? ''
  const query = useQuery(managementKeysQuery(organizationId))
  const [isOpen, setOpen] = useState(false)
  const [revoked, setRevoked] = useState<ManagementKey | null>(null)
  const [made, setMade] = useState<Secret | null>(null)
  const reason = useReason(organizationId, 'management-keys:create')
  useKeys(useMemo(() => ({ c: () => (reason === null ? setOpen(true) : undefined) }), [reason]))
  const create = (
    <Button look="primary" icon="plus" shortcut="c" reason={reason} onClick={() => setOpen(true)}>
      Create
    </Button>
  )
  return (
    <Frame
      title="Management keys"
      said="They open the management API to programs, with the rights of a role. They ask no model anything."
      actions={create}
    >
      <Loaded query={query} what="The management keys">
        {(keys) =>
          keys.length === 0 ? (
            <Empty action={create} command="npx odyssey management-keys create --name terraform --role admin">
              Programs that manage Odyssey need one.
            </Empty>
          ) : (
            <KeyTable organizationId={organizationId} keys={keys} onRevoke={setRevoked} />
          )
        }
      </Loaded>
      {isOpen && (
        <CreateDrawer
          organizationId={organizationId}
          onClose={() => setOpen(false)}
          onMade={(key) => {
            setOpen(false)
            setMade(key)
          }}
        />
      )}
      {revoked !== null && (
        <RevokeDialog organizationId={organizationId} managementKey={revoked} onClose={() => setRevoked(null)} />
      )}
      {made !== null && <KeyOnce made={made} onClose={() => setMade(null)} />}
    </Frame>
  )
}

function KeyOnce({ made, onClose }: { readonly made: Secret; readonly onClose: () => void }) {
  return (
    <SecretDialog title="The management key is ready" secret={made} onClose={onClose}>
      {(key) => (
        <>
          <Banner kind="warn">This is the only time it is shown.</Banner>
          <Code label="Management key" wraps text={key} />
        </>
      )}
    </SecretDialog>
  )
}

function KeyTable({
  organizationId,
  keys,
  onRevoke,
}: {
  readonly organizationId: string
  readonly keys: readonly ManagementKey[]
  readonly onRevoke: (key: ManagementKey) => void
}) {
  const reason = useReason(organizationId, 'management-keys:revoke')
  const grantReason = useGrantReason(organizationId, 'management-keys:revoke')
  const above = ({ role }: ManagementKey) => (grantReason(role) === null ? null : `This key ${beyond}.`)
  const columns: readonly Column<ManagementKey>[] = [
    { key: 'name', head: 'Name', cell: ({ name }) => <Name>{name}</Name> },
    { key: 'key', head: 'Key', cell: ({ lastFour }) => <code>sk-odym-…{lastFour}</code> },
    { key: 'role', head: 'Role', cell: ({ role }) => role },
    { key: 'state', head: 'State', phone: 'side', cell: (key) => <State managementKey={key} /> },
    { key: 'created', head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} isAgo /> },
    {
      key: 'ends',
      head: 'Ends',
      phone: 'off',
      cell: ({ expiresAt }) => (expiresAt === null ? 'Never' : <Time at={expiresAt} />),
    },
    {
      key: 'actions',
      head: '',
      isRight: true,
      phone: 'side',
      cell: (key) =>
        key.revokedAt === null && (
          <Button isSmall reason={reason ?? above(key)} onClick={() => onRevoke(key)}>
            Revoke…
          </Button>
        ),
    },
  ]
  return <Table name="Management keys" columns={columns} items={keys} keyOf={({ id }) => id} />
}

function State({ managementKey: { revokedAt, expiresAt } }: { readonly managementKey: ManagementKey }) {
  if (revokedAt !== null) return <StateTag mood="bad">Revoked</StateTag>
  if (expiresAt !== null && Date.parse(expiresAt) < Date.now()) return <StateTag mood="off">Ended</StateTag>
  return <StateTag mood="good">Active</StateTag>
}

type CreateProps = {
  readonly organizationId: string
  readonly onClose: () => void
  readonly onMade: (key: Secret) => void
}

function CreateDrawer({ organizationId, onClose, onMade }: CreateProps) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('admin')
  const [ends, setEnds] = useState('')
  const change = useChange(
    (body: { readonly name: string; readonly role: Role; readonly expiresAt: string | null }, options) =>
      api('POST /api/v1/organizations/{organizationId}/management-keys', { params: { organizationId }, body }, options),
    { touches: [['management-keys', organizationId]], onDone: ({ key }) => onMade(new Secret(key)) },
  )
  const reason = name.trim() === '' ? 'A name is needed.' : null
  const create = () =>
    reason === null
      ? void change.run({ name: name.trim(), role, expiresAt: ends === '' ? null : `${ends}T00:00:00Z` })
      : undefined
  const foot = (
    <Button type="submit" look="primary" isBusy={change.isBusy} reason={reason}>
      Create management key
    </Button>
  )
  return (
    <Drawer title="Create management key" isOpen onClose={onClose} foot={foot} onSubmit={create}>
      <ChangeProblem problem={change.problem} shown={['name', 'expiresAt']} />
      <TextField
        label="Name"
        autoComplete="off"
        placeholder="terraform"
        value={name}
        fault={change.faultOf('name')}
        onText={setName}
      />
      <Select label="Role" value={role} choices={roleChoices} onChoice={setRole} hint={roleWords[role]} />
      <TextField
        label="Last day before (UTC)"
        type="date"
        value={ends}
        fault={change.faultOf('expiresAt')}
        onText={setEnds}
        hint="Empty: it does not end by itself."
      />
    </Drawer>
  )
}

function RevokeDialog({
  organizationId,
  managementKey,
  onClose,
}: {
  readonly organizationId: string
  readonly managementKey: ManagementKey
  readonly onClose: () => void
}) {
  const params = { organizationId, managementKeyId: managementKey.id }
  const change = useChange(
    (_: null, options) =>
      api('POST /api/v1/organizations/{organizationId}/management-keys/{managementKeyId}/revoke', { params }, options),
    { touches: [['management-keys', organizationId]], onDone: onClose },
  )
  return (
    <Confirm
      title={`Revoke “${managementKey.name}”`}
      verb="Revoke key"
      typedName={managementKey.name}
      change={change}
      onClose={onClose}
      onConfirm={() => void change.run(null)}
    >
      Programs that use it can manage nothing any more, at once. This cannot be undone.
    </Confirm>
  )
}
