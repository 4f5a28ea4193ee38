import { lazy, Suspense, useMemo, useState } from 'react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { KeyActionDialog, type KeyAction } from '../../app/keys/key-actions.tsx'
import { KeyOnce, type NewKey } from '../../app/keys/key-once.tsx'
import { KeyState } from '../../app/keys/key-state.tsx'
import { endpointChoices } from '../../app/keys/endpoint-choices.ts'
import { useKeyReasons } from '../../app/keys/use-key-reasons.ts'
import { AskDrawer } from '../../app/limits/ask-drawer.tsx'
import { pagePath, type PageParams } from '../../app/paths.ts'
import { usePlace } from '../../app/router.tsx'
import { ledgerQuery, ownerOf, useNames, type ApiKey } from '../../app/queries.ts'
import { RequestTable } from '../../app/requests/request-table.tsx'
import { useReason } from '../../app/session.ts'
import { useKeys } from '../../app/shortcuts.ts'
import { Empty, Loaded } from '../../app/states.tsx'
import { Button, LinkButton } from '../../kit/button.tsx'
import { Name, Time } from '../../kit/content.tsx'
import { Card, KeyValue, Page as Frame } from '../../kit/page.tsx'
import { Skeleton } from '../../kit/skeleton.tsx'
import { KeyNeighbours } from './key-neighbours.tsx'
import { KeySums } from './key-sums.tsx'

/** It comes when somebody wants to edit the key. */
const EditKeyDrawer = lazy(async () => ({ default: (await import('./edit-drawer.tsx')).EditKeyDrawer }))

const rowsShown = 10

export function Page({ params }: { readonly params: PageParams }) {
  const { organizationId = '', apiKeyId = '' } = params
  const [action, setAction] = useState<KeyAction | 'edit' | 'ask' | null>(null)
  const [made, setMade] = useState<NewKey | null>(null)
  const query = useQuery({
    queryKey: ['key', organizationId, apiKeyId],
    queryFn: ({ signal }) =>
      api(
        'GET /api/v1/organizations/{organizationId}/api-keys/{apiKeyId}',
        { params: { organizationId, apiKeyId } },
        { signal },
      ),
  })
  const apiKey = query.data
  const reasonOf = useKeyReasons(organizationId)
  const mayEdit = apiKey !== undefined && reasonOf('update', apiKey) === null
  useKeys(useMemo(() => ({ e: () => (mayEdit ? setAction('edit') : undefined) }), [mayEdit]))
  const close = () => setAction(null)
  return (
    <Frame
      title={apiKey === undefined ? 'API key' : <Name>{apiKey.name}</Name>}
      actions={apiKey !== undefined && <Actions organizationId={organizationId} apiKey={apiKey} onAction={setAction} />}
    >
      <Loaded query={query} what="The API key">
        {(found) => (
          <>
            <Card title="Rules">
              <Rules organizationId={organizationId} apiKey={found} />
            </Card>
            <KeySums organizationId={organizationId} apiKeyId={apiKeyId} />
            <Recent organizationId={organizationId} apiKey={found} />
          </>
        )}
      </Loaded>
      {apiKey !== undefined && action === 'edit' && (
        <Suspense fallback={null}>
          <EditKeyDrawer organizationId={organizationId} apiKey={apiKey} onClose={close} />
        </Suspense>
      )}
      {apiKey !== undefined && action !== null && action !== 'edit' && action !== 'ask' && (
        <KeyActionDialog
          organizationId={organizationId}
          apiKey={apiKey}
          action={action}
          onClose={close}
          onMade={(key) => {
            close()
            setMade(key)
          }}
        />
      )}
      {apiKey !== undefined && action === 'ask' && (
        <AskDrawer organizationId={organizationId} apiKeyId={apiKey.id} onClose={close} />
      )}
      {made !== null && <KeyOnce made={made} onClose={() => setMade(null)} />}
    </Frame>
  )
}

type ActionsProps = {
  readonly organizationId: string
  readonly apiKey: ApiKey
  readonly onAction: (action: KeyAction | 'edit' | 'ask') => void
}

function Actions({ organizationId, apiKey, onAction }: ActionsProps) {
  const { id, state } = apiKey
  const { search } = usePlace()
  const over = state === 'revoked' || state === 'expired' ? 'The key has ended.' : null
  const reasonOf = useKeyReasons(organizationId)
  const askReason = useReason(organizationId, 'limits:ask')
  return (
    <>
      <KeyNeighbours organizationId={organizationId} apiKeyId={id} search={search} />
      <LinkButton href={pagePath('keys', { organizationId }) + search} icon="left">
        API keys
      </LinkButton>
      <Button shortcut="e" reason={over ?? reasonOf('update', apiKey)} onClick={() => onAction('edit')}>
        Edit
      </Button>
      <Button reason={over ?? askReason} onClick={() => onAction('ask')}>
        Ask for more
      </Button>
      <Button reason={over ?? reasonOf('rotate', apiKey)} onClick={() => onAction('rotate')}>
        Rotate
      </Button>
      <Button
        reason={over ?? reasonOf('disable', apiKey)}
        onClick={() => onAction(state === 'disabled' ? 'enable' : 'disable')}
      >
        {state === 'disabled' ? 'Enable' : 'Disable'}
      </Button>
      <Button look="danger" reason={over ?? reasonOf('revoke', apiKey)} onClick={() => onAction('revoke')}>
        Revoke
      </Button>
    </>
  )
}

function Rules({ organizationId, apiKey }: { readonly organizationId: string; readonly apiKey: ApiKey }) {
  const nameOf = useNames(organizationId)
  const endpoints = apiKey.endpoints?.map((id) => endpointChoices.find(({ value }) => value === id)?.label ?? id)
  return (
    <KeyValue
      rows={[
        ['State', <KeyState key="state" apiKey={apiKey} />],
        ['Key', <code key="key">…{apiKey.lastFour}</code>],
        ['Id', <code key="id">{apiKey.id}</code>],
        ['Project', <Name key="project">{nameOf(apiKey.projectId)}</Name>],
        ['Owner', <Name key="owner">{nameOf(ownerOf(apiKey))}</Name>],
        ['Created', <Time key="created" at={apiKey.createdAt} />],
        ['Last used', apiKey.lastUsedAt === null ? 'Never' : <Time key="used" at={apiKey.lastUsedAt} isAgo />],
        ['Ends', apiKey.expiresAt === null ? 'Never' : <Time key="ends" at={apiKey.expiresAt} />],
        ['Models', apiKey.models?.join(', ') ?? 'All'],
        ['Formats', endpoints?.join(', ') ?? 'All'],
        ['Addresses', apiKey.addresses?.join(', ') ?? 'All'],
        ...(apiKey.rotatedFrom === null
          ? []
          : [['Replaces', <Name key="from">{nameOf(apiKey.rotatedFrom)}</Name>] as const]),
      ]}
    />
  )
}

function Recent({ organizationId, apiKey }: { readonly organizationId: string; readonly apiKey: ApiKey }) {
  const apiKeyId = apiKey.id
  const reason = useReason(organizationId, 'requests:read')
  const query = useInfiniteQuery({
    ...ledgerQuery(organizationId, { apiKeyId }, { limit: rowsShown, isLive: true }),
    enabled: reason === null,
  })
  if (query.isLoading) return <Skeleton rows={4} />
  const rows = query.data?.pages[0]?.data
  if (reason !== null || rows === undefined) return null
  if (rows.length === 0) return <NoRequests organizationId={organizationId} isUsed={apiKey.lastUsedAt !== null} />
  return (
    <Card
      title="Last requests"
      isFlush
      actions={
        <LinkButton isSmall href={`${pagePath('requests', { organizationId })}?range=all&key=${apiKeyId}`}>
          All of them
        </LinkButton>
      }
    >
      <RequestTable organizationId={organizationId} rows={rows} hasKey={false} />
    </Card>
  )
}

/** What is refused counts as a use of the key, and stands in no list of requests. */
function NoRequests({ organizationId, isUsed }: { readonly organizationId: string; readonly isUsed: boolean }) {
  const mayReadRefusals = useReason(organizationId, 'refusals:read') === null
  if (!isUsed) {
    return (
      <Empty action={<LinkButton href={pagePath('quickstart', { organizationId })}>To the quickstart</LinkButton>}>
        Never used. The quickstart has the settings of each client.
      </Empty>
    )
  }
  const refusals = <LinkButton href={pagePath('refusals', { organizationId })}>To the refusals</LinkButton>
  return (
    <Empty {...(mayReadRefusals && { action: refusals })}>
      It was used, and there is no answered request of it. The refusals say why requests were turned away.
    </Empty>
  )
}
