import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { Confirm } from '../../app/confirm.tsx'
import { useReason } from '../../app/session.ts'
import { Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { SecretDialog } from '../../app/secret-dialog.tsx'
import { Button } from '../../kit/button.tsx'
import { Code, Name, Time } from '../../kit/content.tsx'
import { TextField } from '../../kit/field.tsx'
import { Drawer } from '../../kit/layers.tsx'
import { Banner, KeyValue, Row, Stack, StateTag } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { Secret } from '../../lib/secret.ts'
import { GroupMappings } from './group-mappings.tsx'
import { ListCard } from './list-card.tsx'
import { directoriesQuery } from './queries.ts'

type Directory = Schemas['Directory']
type Conflict = Schemas['DirectoryConflict']
type Props = { readonly organizationId: string }
type OfDirectory = Props & { readonly directory: Directory }

/** The token of a directory, and where the directory shows it. */
type Made = { readonly token: Secret; readonly baseUri: string }

const silentMs = 86_400_000

const columns: readonly Column<Directory>[] = [
  { key: 'name', head: 'Name', cell: ({ name }) => <Name>{name}</Name> },
  { key: 'state', head: 'State', phone: 'side', cell: (directory) => <State directory={directory} /> },
  {
    key: 'seen',
    head: 'Last heard of',
    cell: ({ lastSeenAt }) => (lastSeenAt === null ? 'Never' : <Time at={lastSeenAt} isAgo />),
  },
  { key: 'users', head: 'Let in', cell: ({ users, activeUsers }) => `${activeUsers} of ${users}` },
  { key: 'groups', head: 'Groups', phone: 'off', cell: ({ groups }) => groups },
]

/** The directories that make members and let them go, by SCIM. */
export function Directories({ organizationId }: Props) {
  const query = useQuery(directoriesQuery(organizationId))
  const [made, setMade] = useState<Made | null>(null)
  const reason = useReason(organizationId, 'directories:create')
  return (
    <>
      <ListCard
        title="Directories (SCIM)"
        what="The directories"
        none="None yet: members are invited, and removed by hand when they leave."
        verb="Add directory"
        reason={reason}
        query={query}
        columns={columns}
        adding={({ onClose }) => (
          <AddDrawer
            organizationId={organizationId}
            onClose={onClose}
            onMade={(token) => {
              onClose()
              setMade(token)
            }}
          />
        )}
        opened={(directory, onClose) => (
          <DirectoryDrawer organizationId={organizationId} directory={directory} onClose={onClose} onMade={setMade} />
        )}
      />
      {made !== null && <TokenOnce made={made} onClose={() => setMade(null)} />}
    </>
  )
}

/** Whether it still tells who is there: one that is silent lets nobody go. */
function State({ directory: { lastSeenAt, tokens } }: { readonly directory: Directory }) {
  if (tokens.length === 0) return <StateTag mood="bad">Has no token</StateTag>
  if (lastSeenAt === null) return <StateTag mood="warn">Never heard of</StateTag>
  if (Date.now() - Date.parse(lastSeenAt) > silentMs) return <StateTag mood="warn">Silent for over a day</StateTag>
  return <StateTag mood="good">Heard of</StateTag>
}

function TokenOnce({ made, onClose }: { readonly made: Made; readonly onClose: () => void }) {
  return (
    <SecretDialog title="Tell the directory" secret={made.token} onClose={onClose}>
      {(token) => (
        <>
          <Banner kind="warn">This is the only time the token is shown.</Banner>
          <Code label="Address" wraps text={made.baseUri} />
          <Code label="Token" wraps text={token} />
        </>
      )}
    </SecretDialog>
  )
}

type AddProps = Props & { readonly onClose: () => void; readonly onMade: (made: Made) => void }

function AddDrawer({ organizationId, onClose, onMade }: AddProps) {
  const [name, setName] = useState('')
  const change = useChange(
    (body: { readonly name: string }, options) =>
      api('POST /api/v1/organizations/{organizationId}/directories', { params: { organizationId }, body }, options),
    {
      touches: [['directories', organizationId]],
      onDone: ({ token, directory }) => onMade({ token: new Secret(token), baseUri: directory.baseUri }),
    },
  )
  const reason = name.trim() === '' ? 'A name is needed.' : null
  const foot = (
    <Button type="submit" look="primary" isBusy={change.isBusy} reason={reason}>
      Add directory
    </Button>
  )
  const add = () => (reason === null ? void change.run({ name: name.trim() }) : undefined)
  return (
    <Drawer title="Add a directory" isOpen onClose={onClose} foot={foot} onSubmit={add}>
      <ChangeProblem problem={change.problem} shown={['name']} />
      <TextField
        label="Name"
        autoComplete="off"
        placeholder="Entra"
        value={name}
        fault={change.faultOf('name')}
        onText={setName}
        hint="Members that it makes are developers until one of its groups is mapped to another role."
      />
    </Drawer>
  )
}

function DirectoryDrawer({
  organizationId,
  directory,
  onClose,
  onMade,
}: OfDirectory & { readonly onClose: () => void; readonly onMade: (made: Made) => void }) {
  const [isRemoving, setRemoving] = useState(false)
  const reason = useReason(organizationId, 'directories:remove')
  return (
    <Drawer title={directory.name} isOpen onClose={onClose}>
      <Stack>
        <KeyValue
          rows={[
            ['State', <State key="state" directory={directory} />],
            ['Last heard of', directory.lastSeenAt === null ? 'Never' : <Time key="seen" at={directory.lastSeenAt} />],
            ['Users', `${directory.activeUsers} let in, of ${directory.users}`],
            ['Groups', String(directory.groups)],
            ['Address', <Code key="uri" text={directory.baseUri} wraps />],
            ...directory.tokens.map(
              ({ id, lastFour, expiresAt }) =>
                [
                  `Token …${lastFour}`,
                  expiresAt === null ? (
                    'has no end'
                  ) : (
                    <span key={id}>
                      until <Time at={expiresAt} />
                    </span>
                  ),
                ] as const,
            ),
          ]}
        />
        <Rotate organizationId={organizationId} directory={directory} onMade={onMade} />
        <h3>Groups</h3>
        <GroupMappings organizationId={organizationId} directory={directory} />
        <h3>What it was refused</h3>
        <Conflicts organizationId={organizationId} directory={directory} />
        <Row>
          <Button look="danger" reason={reason} onClick={() => setRemoving(true)}>
            Remove…
          </Button>
        </Row>
      </Stack>
      {isRemoving && (
        <RemoveDialog
          organizationId={organizationId}
          directory={directory}
          onClose={() => setRemoving(false)}
          onRemoved={onClose}
        />
      )}
    </Drawer>
  )
}

function Rotate({ organizationId, directory, onMade }: OfDirectory & { readonly onMade: (made: Made) => void }) {
  const params = { organizationId, directoryId: directory.id }
  const reason = useReason(organizationId, 'directories:update')
  const change = useChange(
    (_: null, options) =>
      api(
        'POST /api/v1/organizations/{organizationId}/directories/{directoryId}/rotate',
        { params, body: {} },
        options,
      ),
    {
      touches: [['directories', organizationId]],
      onDone: ({ token }) => onMade({ token: new Secret(token), baseUri: directory.baseUri }),
    },
  )
  return (
    <Stack>
      <ChangeProblem problem={change.problem} />
      <Row>
        <Button isBusy={change.isBusy} reason={reason} onClick={() => void change.run(null)}>
          Make another token
        </Button>
      </Row>
      <p>The one in use works on for seven days; of two the older one ends at once.</p>
    </Stack>
  )
}

function Conflicts({ organizationId, directory }: OfDirectory) {
  const params = { organizationId, directoryId: directory.id }
  const query = useQuery({
    queryKey: ['directory-conflicts', organizationId, directory.id],
    queryFn: ({ signal }) =>
      api('GET /api/v1/organizations/{organizationId}/directories/{directoryId}/conflicts', { params }, { signal }),
  })
  const columns: readonly Column<Conflict>[] = [
    { key: 'at', head: 'When', cell: ({ at }) => <Time at={at} isAgo /> },
    {
      key: 'what',
      head: 'What',
      cell: ({ method, path }) => <code>{`${method} ${path.replace('/scim/v2', '')}`}</code>,
    },
    { key: 'why', head: 'Why it was refused', cell: ({ detail }) => detail },
  ]
  return (
    <Loaded query={query} what="What was refused" rows={2}>
      {({ data }) =>
        data.length === 0 ? (
          <p>Nothing.</p>
        ) : (
          <Table name="Refused" columns={columns} items={data.slice(0, 20)} keyOf={({ id }) => id} />
        )
      }
    </Loaded>
  )
}

function RemoveDialog({
  organizationId,
  directory,
  onClose,
  onRemoved,
}: OfDirectory & { readonly onClose: () => void; readonly onRemoved: () => void }) {
  const params = { organizationId, directoryId: directory.id }
  const change = useChange(
    (_: null, options) =>
      api('DELETE /api/v1/organizations/{organizationId}/directories/{directoryId}', { params }, options),
    { touches: [['directories', organizationId]], onDone: onRemoved },
  )
  return (
    <Confirm
      title={`Remove “${directory.name}”`}
      verb="Remove directory"
      typedName={directory.name}
      change={change}
      onClose={onClose}
      onConfirm={() => void change.run(null)}
    >
      Its members stay as they are, and whom it has switched off stays suspended. Nobody is removed any more when they
      leave.
    </Confirm>
  )
}
