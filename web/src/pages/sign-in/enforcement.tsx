import { useState, type ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { canUsePasskeys } from '../../api/passkey.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { Confirm } from '../../app/confirm.tsx'
import { proveByPasskey } from '../../app/prove-by-passkey.ts'
import { useMemberList, useNames } from '../../app/queries.ts'
import { useMembership, useReason, useSession } from '../../app/session.ts'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Name, Time } from '../../kit/content.tsx'
import { Select } from '../../kit/field.tsx'
import { Link } from '../../kit/link.tsx'
import { KeyValue, Row, Stack, StateTag } from '../../kit/page.tsx'
import { connectionsQuery, domainsQuery, type Connection } from './queries.ts'
import { dayMs } from '../../format/time.ts'

type Props = { readonly organizationId: string; readonly connection: Connection }

/** Whether members come in by this connection alone, what is still missing for that, and what follows from it. */
export function Enforcement(props: Props) {
  return props.connection.enforcedAt === null ? <Enforce {...props} /> : <Enforced {...props} />
}

const path = '/api/v1/organizations/{organizationId}/connections/{connectionId}'

function Enforced({ organizationId, connection }: Props) {
  const [isAsked, setAsked] = useState(false)
  const nameOf = useNames(organizationId)
  const reason = useReason(organizationId, 'connections:enforce')
  const params = { organizationId, connectionId: connection.id }
  const change = useChange((_: null, options) => api(`POST ${path}/relax`, { params }, options), {
    touches: [['connections', organizationId]],
    onDone: () => setAsked(false),
  })
  return (
    <Stack>
      <KeyValue
        rows={[
          ['The only way in since', <Time key="since" at={connection.enforcedAt ?? ''} />],
          ['But for', <Name key="owner">{nameOf(connection.breakGlassId)}</Name>],
        ]}
      />
      <p>That owner comes in without the provider for an hour at a time, and each time stands in the audit log.</p>
      <Row>
        <Button reason={reason} onClick={() => setAsked(true)}>
          Let members in otherwise too…
        </Button>
      </Row>
      {isAsked && (
        <Confirm
          title={`No longer ${connection.name} alone`}
          verb="Let members in otherwise too"
          isBad={false}
          change={change}
          onClose={() => setAsked(false)}
          onConfirm={() => void change.run(null)}
        >
          Members come in by passkeys, passwords and other connections again, as far as they have them. Who is signed in
          stays so.
        </Confirm>
      )}
    </Stack>
  )
}

function Enforce({ organizationId, connection }: Props) {
  const [isAsked, setAsked] = useState(false)
  const own = useMembership(organizationId)?.memberId
  const owners = useMemberList(organizationId).filter(
    ({ role, roleId, removedAt, suspendedAt }) =>
      role === 'owner' && roleId === null && removedAt === null && suspendedAt === null,
  )
  const [chosen, setChosen] = useState<string | null>(null)
  const breakGlassId = chosen ?? owners.find(({ id }) => id === own)?.id ?? owners[0]?.id ?? ''
  const conditions = useConditions(organizationId, connection, breakGlassId)
  const missing = conditions.find(({ isMet }) => isMet === false)
  const lacking = useReason(organizationId, 'connections:enforce')
  const reason = lacking ?? (missing === undefined ? null : `Not yet: ${missing.words}`)
  return (
    <Stack>
      <p>
        Then nobody comes into this organization by a passkey, a password or another provider, but for one owner who can
        when the provider fails.
      </p>
      {owners.length > 0 && (
        <Select
          label="Who comes in all the same"
          value={breakGlassId}
          choices={owners.map(({ id, name }) => ({ value: id, label: id === own ? `${name} (you)` : name }))}
          onChoice={setChosen}
          hint="An owner who has used a passkey, or a password with an authenticator app, within 30 days."
        />
      )}
      <Conditions conditions={conditions} />
      <Row>
        <Button reason={reason} onClick={() => setAsked(true)}>
          Make it the only way in…
        </Button>
      </Row>
      {isAsked && (
        <EnforceDialog
          organizationId={organizationId}
          connection={connection}
          breakGlassId={breakGlassId}
          onClose={() => setAsked(false)}
        />
      )}
    </Stack>
  )
}

function EnforceDialog({
  organizationId,
  connection,
  breakGlassId,
  onClose,
}: Props & { readonly breakGlassId: string; readonly onClose: () => void }) {
  const nameOf = useNames(organizationId)
  const members = useMemberList(organizationId).filter(
    ({ id, removedAt, suspendedAt }) => removedAt === null && suspendedAt === null && id !== breakGlassId,
  )
  const params = { organizationId, connectionId: connection.id }
  const change = useChange(
    (_: null, options) => api(`POST ${path}/enforce`, { params, body: { breakGlassId } }, options),
    { touches: [['connections', organizationId], ['session']], onDone: onClose },
  )
  return (
    <Confirm
      title={`${connection.name} as the only way in`}
      verb="Make it the only way in"
      typedName={connection.name}
      change={change}
      onClose={onClose}
      onConfirm={() => void change.run(null)}
    >
      {othersCome(members.length)} into this organization by {connection.name} alone from now on: whoever is signed in
      otherwise is asked to sign in there before they see anything of it. Who has no account with the provider is locked
      out. <Name>{nameOf(breakGlassId)}</Name> comes in without it, for an hour at a time, and the audit log has each
      time. The connection can be neither switched off nor removed meanwhile. API keys and management keys work on.
    </Confirm>
  )
}

function othersCome(number: number): string {
  if (number === 0) return 'Everybody else comes'
  return number === 1 ? '1 other member comes' : `${number} other members come`
}

type Condition = {
  readonly words: string
  /** Null where only the service can tell, which it does before anything is changed. */
  readonly isMet: boolean | null
  readonly help?: ReactNode
}

const usedDaysMax = 30

function useConditions(organizationId: string, connection: Connection, breakGlassId: string): readonly Condition[] {
  const userId = useSession()?.user.id
  const domains = useQuery(domainsQuery(organizationId)).data?.data ?? []
  const connections = useQuery(connectionsQuery(organizationId)).data?.data ?? []
  const isProven = useIsProven(organizationId, breakGlassId)
  const other = connections.find(({ id, enforcedAt }) => id !== connection.id && enforcedAt !== null)
  return [
    { words: 'The connection is switched on.', isMet: connection.state === 'on' },
    {
      words: 'You have signed in with it yourself.',
      isMet: connection.testedBy !== null && connection.testedBy === userId,
    },
    {
      words: 'A domain of the organization is verified.',
      isMet: domains.some(({ verifiedAt }) => verifiedAt !== null),
    },
    ...(other === undefined ? [] : [{ words: `${other.name} is not the only way in any more.`, isMet: false }]),
    {
      words: 'The owner who comes in all the same has shown that they can.',
      isMet: breakGlassId === '' ? false : isProven,
      help: isProven === false ? <ShowPasskey /> : isProven === null && 'That is checked before anything changes.',
    },
  ]
}

/** Whether the reader has used a passkey within 30 days, where they are the owner; others' use is theirs. */
function useIsProven(organizationId: string, breakGlassId: string): boolean | null {
  const isReader = useMembership(organizationId)?.memberId === breakGlassId && breakGlassId !== ''
  const me = useQuery({
    queryKey: ['me'],
    queryFn: ({ signal }) => api('GET /api/v1/me', {}, { signal }),
    enabled: isReader,
  }).data
  if (!isReader || me === undefined) return null
  const isRecent = (at: string | null) => at !== null && Date.now() - Date.parse(at) < usedDaysMax * dayMs
  if (me.passkeys.some(({ lastUsedAt }) => isRecent(lastUsedAt))) return true
  return me.hasTotp && me.hasPassword ? null : false
}

/** A passkey that was made and never asked for may work nowhere. */
function ShowPasskey() {
  const change = useChange((_: null) => proveByPasskey(), { touches: [['me'], ['session']] })
  if (!canUsePasskeys()) return <Link href="/account">Use a password with an authenticator app: see Account.</Link>
  return (
    <>
      <Button isSmall icon="fingerprint" isBusy={change.isBusy} onClick={() => void change.run(null)}>
        Use your passkey
      </Button>
      <ChangeProblem problem={change.problem} />
    </>
  )
}

function Conditions({ conditions }: { readonly conditions: readonly Condition[] }) {
  return (
    <ul aria-label="What it needs" style={{ listStyle: 'none', margin: 0, padding: 0 }}>
      {conditions.map(({ words, isMet, help }) => (
        <li key={words}>
          <StateTag mood={isMet === null ? 'info' : isMet ? 'good' : 'warn'}>
            <span style={{ whiteSpace: 'normal' }}>
              {isMet === false && 'Missing: '}
              {words}
            </span>
          </StateTag>{' '}
          {help}
        </li>
      ))}
    </ul>
  )
}
