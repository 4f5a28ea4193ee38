import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { useReason } from '../../app/session.ts'
import { Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Code, Name, Time } from '../../kit/content.tsx'
import { Drawer } from '../../kit/layers.tsx'
import { Banner, Card, KeyValue, Row, Stack, StateTag } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { ConnectDrawer } from './connect-drawer.tsx'

type Connection = Schemas['Connection']
type Attempt = Schemas['LoginAttempt']
type Props = { readonly organizationId: string }
type OfConnection = Props & { readonly connection: Connection }

/** The identity providers by which members sign in. */
export function Connections({ organizationId }: Props) {
  const query = useQuery({
    queryKey: ['connections', organizationId],
    queryFn: ({ signal }) =>
      api('GET /api/v1/organizations/{organizationId}/connections', { params: { organizationId } }, { signal }),
  })
  const [isOpen, setOpen] = useState(false)
  const [shownId, setShownId] = useState<string | null>(null)
  const reason = useReason(organizationId, 'connections:create')
  const connect = (
    <Button icon="plus" reason={reason} onClick={() => setOpen(true)}>
      Connect
    </Button>
  )
  const shown = query.data?.data.find(({ id }) => id === shownId)
  return (
    <Card title="Identity providers" actions={connect}>
      <Loaded query={query} what="The connections" rows={2}>
        {({ data }) =>
          data.length === 0 ? (
            <p>None yet: members sign in with passkeys or passwords of their own.</p>
          ) : (
            <ConnectionTable connections={data} onShow={setShownId} />
          )
        }
      </Loaded>
      {isOpen && (
        <ConnectDrawer
          organizationId={organizationId}
          onClose={() => setOpen(false)}
          onMade={(id) => {
            setOpen(false)
            setShownId(id)
          }}
        />
      )}
      {shown !== undefined && (
        <ConnectionDrawer organizationId={organizationId} connection={shown} onClose={() => setShownId(null)} />
      )}
    </Card>
  )
}

function ConnectionTable({
  connections,
  onShow,
}: {
  readonly connections: readonly Connection[]
  readonly onShow: (id: string) => void
}) {
  const columns: readonly Column<Connection>[] = [
    { key: 'name', head: 'Name', cell: ({ name }) => <Name>{name}</Name> },
    { key: 'kind', head: 'By', cell: ({ kind }) => kindWords[kind] },
    { key: 'state', head: 'State', phone: 'side', cell: (connection) => <State connection={connection} /> },
    {
      key: 'tested',
      head: 'Tried',
      cell: ({ testedAt }) => (testedAt === null ? 'Never' : <Time at={testedAt} isAgo />),
    },
    {
      key: 'actions',
      head: '',
      isRight: true,
      phone: 'side',
      cell: ({ id, name }) => (
        <Button isSmall aria-label={`Open ${name}`} onClick={() => onShow(id)}>
          Open
        </Button>
      ),
    },
  ]
  return <Table name="Identity providers" columns={columns} items={connections} keyOf={({ id }) => id} />
}

const kindWords = { oidc: 'OpenID Connect', saml: 'SAML 2.0' } as const

function State({ connection: { state, enforcedAt } }: { readonly connection: Connection }) {
  if (enforcedAt !== null) return <StateTag mood="good">The only way in</StateTag>
  if (state === 'on') return <StateTag mood="good">On</StateTag>
  return state === 'draft' ? <StateTag mood="info">Draft</StateTag> : <StateTag mood="off">Off</StateTag>
}

/** The steps from a draft to a connection that lets people in, and what came of the attempts. */
function ConnectionDrawer({ organizationId, connection, onClose }: OfConnection & { readonly onClose: () => void }) {
  return (
    <Drawer title={connection.name} isOpen onClose={onClose}>
      <Stack>
        <h3>1. Tell the provider</h3>
        <KeyValue rows={addressesOf(connection)} />
        <h3>2. Try it</h3>
        <TestSignIn organizationId={organizationId} connection={connection} />
        <h3>3. Let members in</h3>
        <Switch organizationId={organizationId} connection={connection} />
        <h3>Attempts</h3>
        <Attempts organizationId={organizationId} connection={connection} />
      </Stack>
    </Drawer>
  )
}

function addressesOf({ kind, redirectUri, logoutUri, metadataUri }: Connection) {
  const code = (text: string) => <Code key={text} text={text} wraps />
  const isSaml = kind === 'saml'
  return [
    ...(metadataUri === null ? [] : [['Metadata, entity ID', code(metadataUri)] as const]),
    [isSaml ? 'ACS, reply URL' : 'Redirect address', code(redirectUri)] as const,
    [isSaml ? 'Single logout' : 'Back-channel logout', code(logoutUri)] as const,
  ]
}

function TestSignIn({ organizationId, connection }: OfConnection) {
  const reason = useReason(organizationId, 'connections:update')
  const change = useChange(
    (body: { readonly connectionId: string }, options) => api('POST /api/v1/me/identities', { body }, options),
    { touches: [], onDone: ({ location }) => window.location.assign(location) },
  )
  return (
    <Stack>
      <p>
        You go to the provider and come back with your own identity linked.{' '}
        {connection.testedAt === null ? (
          'Nobody has done it yet.'
        ) : (
          <>
            Last done <Time at={connection.testedAt} isAgo />.
          </>
        )}
      </p>
      <ChangeProblem problem={change.problem} />
      <Row>
        <Button
          isBusy={change.isBusy}
          reason={reason ?? (connection.state === 'off' ? 'It is switched off.' : null)}
          onClick={() => void change.run({ connectionId: connection.id })}
        >
          Try signing in
        </Button>
      </Row>
    </Stack>
  )
}

function Switch({ organizationId, connection }: OfConnection) {
  const isOn = connection.state === 'on'
  const params = { organizationId, connectionId: connection.id }
  const reason = useReason(organizationId, 'connections:update')
  const change = useChange(
    (_: null, options) =>
      isOn
        ? api('POST /api/v1/organizations/{organizationId}/connections/{connectionId}/disable', { params }, options)
        : api('POST /api/v1/organizations/{organizationId}/connections/{connectionId}/enable', { params }, options),
    { touches: [['connections', organizationId]] },
  )
  const held = connection.enforcedAt === null ? null : 'It is the only way in: relax it first.'
  return (
    <Stack>
      {isOn && <Code label="Where members sign in" text={connection.startUri} wraps />}
      {!isOn && connection.testedAt === null && <Banner kind="warn">Nobody has tried it yet.</Banner>}
      <ChangeProblem problem={change.problem} />
      <Row>
        <Button isBusy={change.isBusy} reason={reason ?? (isOn ? held : null)} onClick={() => void change.run(null)}>
          {isOn ? 'Switch off' : 'Switch on'}
        </Button>
      </Row>
    </Stack>
  )
}

function Attempts({ organizationId, connection }: OfConnection) {
  const params = { organizationId, connectionId: connection.id }
  const query = useQuery({
    queryKey: ['attempts', organizationId, connection.id],
    queryFn: ({ signal }) =>
      api('GET /api/v1/organizations/{organizationId}/connections/{connectionId}/attempts', { params }, { signal }),
  })
  const columns: readonly Column<Attempt>[] = [
    { key: 'at', head: 'When', cell: ({ at }) => <Time at={at} isAgo /> },
    {
      key: 'outcome',
      head: 'What came of it',
      cell: ({ outcome, reason }) => (outcome === 'refused' ? reason : outcomeWords[outcome]),
    },
  ]
  return (
    <Loaded query={query} what="The attempts" rows={2}>
      {({ data }) =>
        data.length === 0 ? (
          <p>Nobody has come back from the provider yet.</p>
        ) : (
          <Table name="Attempts" columns={columns} items={data.slice(0, 20)} keyOf={({ id }) => id} />
        )
      }
    </Loaded>
  )
}

const outcomeWords = { 'signed-in': 'Signed in', linked: 'Linked their identity' } as const
