import { useMemo, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { CreateKey } from '../../app/keys/create-key.tsx'
import { KeyActionDialog, type KeyAction } from '../../app/keys/key-actions.tsx'
import { KeyOnce, type NewKey } from '../../app/keys/key-once.tsx'
import { OwnedKeys } from '../../app/keys/owned-keys.tsx'
import { pagePath, type PageParams } from '../../app/paths.ts'
import { keysQuery, useNames, type ApiKey, type ServiceAccount } from '../../app/queries.ts'
import {
  AccountActionDialog,
  useAccountEntries,
  type AccountAction,
} from '../../app/service-accounts/account-actions.tsx'
import { AccountStateTag, stateOf } from '../../app/service-accounts/account-state.tsx'
import { useReason } from '../../app/session.ts'
import { useKeys } from '../../app/shortcuts.ts'
import { Loaded } from '../../app/states.tsx'
import { Button, LinkButton } from '../../kit/button.tsx'
import { Name, Time } from '../../kit/content.tsx'
import { Menu } from '../../kit/layers.tsx'
import { Card, KeyValue, Page as Frame } from '../../kit/page.tsx'

type Open =
  | { readonly kind: 'create' }
  | { readonly kind: 'account'; readonly action: AccountAction }
  | { readonly kind: 'key'; readonly action: KeyAction; readonly apiKey: ApiKey }

/** One account of a program: what it is for, and its keys. */
export function Page({ params }: { readonly params: PageParams }) {
  const { organizationId = '', serviceAccountId = '' } = params
  const [open, setOpen] = useState<Open | null>(null)
  const [made, setMade] = useState<NewKey | null>(null)
  const query = useQuery({
    queryKey: ['service-accounts', organizationId, serviceAccountId],
    queryFn: ({ signal }) =>
      api(
        'GET /api/v1/organizations/{organizationId}/service-accounts/{serviceAccountId}',
        { params: { organizationId, serviceAccountId } },
        { signal },
      ),
  })
  const account = query.data
  const reason = useCreateReason(organizationId, account)
  useKeys(useMemo(() => ({ c: () => (reason === null ? setOpen({ kind: 'create' }) : undefined) }), [reason]))
  const close = () => setOpen(null)
  const show = (key: NewKey) => {
    close()
    setMade(key)
  }
  return (
    <Frame
      title={account === undefined ? 'Service account' : <Name>{account.name}</Name>}
      actions={
        account !== undefined && (
          <Actions organizationId={organizationId} account={account} reason={reason} onOpen={setOpen} />
        )
      }
    >
      <Loaded query={query} what="The service account">
        {(found) => (
          <>
            <Card title="Account">
              <Facts organizationId={organizationId} account={found} />
            </Card>
            <Keys
              organizationId={organizationId}
              account={found}
              onAction={(action, apiKey) => setOpen({ kind: 'key', action, apiKey })}
            />
          </>
        )}
      </Loaded>
      {account !== undefined && open?.kind === 'create' && (
        <CreateKey organizationId={organizationId} account={account} onClose={close} onMade={show} />
      )}
      {account !== undefined && open?.kind === 'account' && (
        <AccountActionDialog organizationId={organizationId} account={account} action={open.action} onClose={close} />
      )}
      {open?.kind === 'key' && (
        <KeyActionDialog
          organizationId={organizationId}
          apiKey={open.apiKey}
          action={open.action}
          onClose={close}
          onMade={show}
        />
      )}
      {made !== null && <KeyOnce made={made} onClose={() => setMade(null)} />}
    </Frame>
  )
}

function useCreateReason(organizationId: string, account: ServiceAccount | undefined): string | null {
  // Whoever may make such an account may make its keys: a developer makes keys of their own alone.
  const reason = useReason(organizationId, 'service-accounts:create')
  const lacking = useReason(organizationId, 'api-keys:create') ?? reason
  if (lacking !== null) return lacking
  if (account === undefined) return 'The account is not here yet.'
  const state = stateOf(account)
  if (state === 'removed') return 'It was removed.'
  return state === 'disabled' ? 'It is disabled: enable it first.' : null
}

type ActionsProps = {
  readonly organizationId: string
  readonly account: ServiceAccount
  readonly reason: string | null
  readonly onOpen: (open: Open) => void
}

function Actions({ organizationId, account, reason, onOpen }: ActionsProps) {
  const entriesOf = useAccountEntries(organizationId)
  return (
    <>
      <LinkButton href={pagePath('serviceAccounts', { organizationId })} icon="left">
        Service accounts
      </LinkButton>
      {account.removedAt === null && (
        <Menu
          name={`Change ${account.name}`}
          trigger={<Button icon="more">Change</Button>}
          entries={entriesOf(account, (action) => onOpen({ kind: 'account', action }))}
        />
      )}
      <Button look="primary" icon="plus" shortcut="c" reason={reason} onClick={() => onOpen({ kind: 'create' })}>
        Create key
      </Button>
    </>
  )
}

type OfAccount = { readonly organizationId: string; readonly account: ServiceAccount }

function Facts({ organizationId, account }: OfAccount) {
  const nameOf = useNames(organizationId)
  return (
    <KeyValue
      rows={[
        ['State', <AccountStateTag key="state" account={account} />],
        ['Project', <Name key="project">{nameOf(account.projectId)}</Name>],
        ['Id', <code key="id">{account.id}</code>],
        ['Since', <Time key="since" at={account.createdAt} />],
        ...(account.disabledAt === null
          ? []
          : [['Disabled', <Time key="disabled" at={account.disabledAt} />] as const]),
        ...(account.removedAt === null ? [] : [['Removed', <Time key="removed" at={account.removedAt} />] as const]),
      ]}
    />
  )
}

function Keys({
  organizationId,
  account,
  onAction,
}: OfAccount & { readonly onAction: (action: KeyAction, apiKey: ApiKey) => void }) {
  const reason = useReason(organizationId, 'api-keys:read')
  const query = useQuery({ ...keysQuery(organizationId), enabled: reason === null })
  if (reason !== null) return <p>{reason}</p>
  return (
    <Loaded query={query} what="Its keys">
      {(keys) => (
        <OwnedKeys
          organizationId={organizationId}
          title="Its keys"
          keys={keys.filter(({ serviceAccountId }) => serviceAccountId === account.id)}
          onAction={onAction}
        />
      )}
    </Loaded>
  )
}
