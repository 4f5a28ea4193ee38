import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { Confirm } from '../../app/confirm.tsx'
import { useReason } from '../../app/session.ts'
import { Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Code, Time } from '../../kit/content.tsx'
import { Drawer } from '../../kit/layers.tsx'
import { Banner, KeyValue, Row, Stack, StateTag } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { ConnectionMappings } from './connection-mappings.tsx'
import { Enforcement } from './enforcement.tsx'
import type { Connection } from './queries.ts'

type Attempt = Schemas['LoginAttempt']
type OfConnection = { readonly organizationId: string; readonly connection: Connection }

/** The steps from a draft to a connection that lets people in, and what came of the attempts. */
export function ConnectionDrawer({
  organizationId,
  connection,
  onClose,
}: OfConnection & { readonly onClose: () => void }) {
  return (
    <Drawer title={connection.name} isOpen onClose={onClose}>
      <Stack>
        <h3>1. Tell the provider</h3>
        <KeyValue rows={addressesOf(connection)} />
        <h3>2. Try it</h3>
        <TestSignIn organizationId={organizationId} connection={connection} />
        <h3>3. Let members in</h3>
        <Switch organizationId={organizationId} connection={connection} />
        <h3>4. Give their groups roles</h3>
        <ConnectionMappings organizationId={organizationId} connection={connection} />
        <h3>5. Let nobody in otherwise</h3>
        <Enforcement organizationId={organizationId} connection={connection} />
        <h3>Signing out</h3>
        <SignOutThere organizationId={organizationId} connection={connection} />
        <h3>Attempts to sign in</h3>
        <Attempts organizationId={organizationId} connection={connection} />
        <Remove organizationId={organizationId} connection={connection} onRemoved={onClose} />
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
  const change = useChange((body: { readonly connectionId: string }) => api('POST /api/v1/me/identities', { body }), {
    touches: [],
    onDone: ({ location }) => window.location.assign(location),
  })
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

function SignOutThere({ organizationId, connection }: OfConnection) {
  const params = { organizationId, connectionId: connection.id }
  const reason = useReason(organizationId, 'connections:update')
  const change = useChange(
    (body: { readonly signsOutThere: boolean }, options) =>
      api('PATCH /api/v1/organizations/{organizationId}/connections/{connectionId}', { params, body }, options),
    { touches: [['connections', organizationId]] },
  )
  const { signsOutThere, signedOutUri } = connection
  return (
    <Stack>
      <p>
        {signsOutThere
          ? 'Whoever signs out here is signed out at the provider too, and so of whatever else it lets them in to.'
          : 'Whoever signs out here stays signed in at the provider.'}
      </p>
      {signsOutThere && signedOutUri !== null && (
        <Code label="Where the provider sends browsers back to" text={signedOutUri} wraps />
      )}
      <ChangeProblem problem={change.problem} />
      <Row>
        <Button
          isBusy={change.isBusy}
          reason={reason}
          onClick={() => void change.run({ signsOutThere: !signsOutThere })}
        >
          {signsOutThere ? 'Sign out here alone' : 'Sign out there too'}
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
      cell: ({ outcome, reason }) =>
        outcome === 'refused' ? (
          <>
            <StateTag mood="bad">Refused</StateTag> {reason}
          </>
        ) : (
          <StateTag mood="good">{outcomeWords[outcome]}</StateTag>
        ),
    },
    {
      key: 'request',
      head: 'Request',
      cell: ({ requestId }) => <small title={requestId}>{requestId.slice(0, 12)}…</small>,
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

function Remove({ organizationId, connection, onRemoved }: OfConnection & { readonly onRemoved: () => void }) {
  const [isAsked, setAsked] = useState(false)
  const reason = useReason(organizationId, 'connections:remove')
  const held = connection.enforcedAt === null ? null : 'It is the only way in: let members in otherwise first.'
  const params = { organizationId, connectionId: connection.id }
  const change = useChange(
    (_: null, options) =>
      api('DELETE /api/v1/organizations/{organizationId}/connections/{connectionId}', { params }, options),
    { touches: [['connections', organizationId]], onDone: onRemoved },
  )
  return (
    <Row>
      <Button look="danger" reason={reason ?? held} onClick={() => setAsked(true)}>
        Remove…
      </Button>
      {isAsked && (
        <Confirm
          title={`Remove “${connection.name}”`}
          verb="Remove connection"
          typedName={connection.name}
          change={change}
          onClose={() => setAsked(false)}
          onConfirm={() => void change.run(null)}
        >
          Whoever is signed in by it is signed out, and whom it knows it knows no more. Members stay as they are, and
          come in by the other ways that they have.
        </Confirm>
      )}
    </Row>
  )
}
