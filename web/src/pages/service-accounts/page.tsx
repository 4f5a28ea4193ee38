import { useMemo, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { isInUse } from '../../app/keys/key-state.tsx'
import { pagePath, type PageParams } from '../../app/paths.ts'
import { serviceAccountsQuery, useKeyList, useNames, type ServiceAccount } from '../../app/queries.ts'
import { useSearch } from '../../app/router.tsx'
import {
  AccountActionDialog,
  useAccountEntries,
  type AccountAction,
} from '../../app/service-accounts/account-actions.tsx'
import { AccountStateTag, stateOf } from '../../app/service-accounts/account-state.tsx'
import { useReason } from '../../app/session.ts'
import { useKeys } from '../../app/shortcuts.ts'
import { Empty, Loaded, NothingMatches } from '../../app/states.tsx'
import { Button, IconButton } from '../../kit/button.tsx'
import { Name, Time } from '../../kit/content.tsx'
import { Select } from '../../kit/field.tsx'
import { Menu } from '../../kit/layers.tsx'
import { Link } from '../../kit/link.tsx'
import { Page as Frame, Row } from '../../kit/page.tsx'
import { SearchField } from '../../kit/search-field.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { oneOf, searchCodec, text } from '../../lib/search-codec.ts'
import { CreateAccountDrawer } from './create-drawer.tsx'

const states = ['in use', 'active', 'disabled', 'removed', 'all'] as const
const accountsSearch = searchCodec({ q: text(), state: oneOf(states, 'in use') })
type Search = ReturnType<typeof accountsSearch.read>['state']
type Open =
  | { readonly kind: 'create' }
  | { readonly kind: 'action'; readonly action: AccountAction; readonly account: ServiceAccount }

export function Page({ params }: { readonly params: PageParams }) {
  const organizationId = params['organizationId'] ?? ''
  const [search, change] = useSearch(accountsSearch)
  const query = useQuery(serviceAccountsQuery(organizationId))
  const [open, setOpen] = useState<Open | null>(null)
  const reason = useReason(organizationId, 'service-accounts:create')
  useKeys(useMemo(() => ({ c: () => (reason === null ? setOpen({ kind: 'create' }) : undefined) }), [reason]))
  const create = (
    <Button look="primary" icon="plus" shortcut="c" reason={reason} onClick={() => setOpen({ kind: 'create' })}>
      Create service account
    </Button>
  )
  return (
    <Frame
      title="Service accounts"
      said="Accounts of programs: their keys are no person’s, and stay when people leave."
      actions={create}
    >
      <Loaded query={query} what="The service accounts">
        {(accounts) =>
          accounts.length === 0 ? (
            <Empty action={create} command="npx odyssey service-accounts create --name Search">
              No service accounts yet. What runs without anybody watching has one, so that its keys end with nobody.
            </Empty>
          ) : (
            <Accounts
              organizationId={organizationId}
              accounts={accounts}
              search={search}
              onSearch={change}
              onAction={(action, account) => setOpen({ kind: 'action', action, account })}
            />
          )
        }
      </Loaded>
      {open?.kind === 'create' && <CreateAccountDrawer organizationId={organizationId} onClose={() => setOpen(null)} />}
      {open?.kind === 'action' && (
        <AccountActionDialog
          organizationId={organizationId}
          account={open.account}
          action={open.action}
          onClose={() => setOpen(null)}
        />
      )}
    </Frame>
  )
}

type AccountsProps = TableProps & {
  readonly search: Search
  readonly onSearch: (changes: Partial<Search>) => void
}

function Accounts({ accounts, search: { q, state }, onSearch, ...rest }: AccountsProps) {
  const shown = accounts.filter(
    (account) =>
      (state === 'all' || stateOf(account) === state || (state === 'in use' && account.removedAt === null)) &&
      `${account.name} ${account.id}`.toLowerCase().includes(q.toLowerCase()),
  )
  return (
    <>
      <div role="search" aria-label="Filters">
        <Row>
          <SearchField label="Name or id" value={q} onText={(typed) => onSearch({ q: typed })} />
          <Select
            isInline
            label="State"
            value={state}
            choices={states.map((value) => ({ value, label: value }))}
            onChoice={(chosen) => onSearch({ state: chosen })}
          />
        </Row>
      </div>
      {shown.length === 0 ? (
        <NothingMatches what="service accounts" onClear={() => onSearch({ q: '', state: 'in use' })} />
      ) : (
        <AccountTable {...rest} accounts={shown} />
      )}
    </>
  )
}

type TableProps = {
  readonly organizationId: string
  readonly accounts: readonly ServiceAccount[]
  readonly onAction: (action: AccountAction, account: ServiceAccount) => void
}

function AccountTable({ organizationId, accounts, onAction }: TableProps) {
  const nameOf = useNames(organizationId)
  const entriesOf = useAccountEntries(organizationId)
  const keys = useKeyList(organizationId)
  const keysOf = ({ id }: ServiceAccount) => keys.filter(({ serviceAccountId }) => serviceAccountId === id)
  const columns: readonly Column<ServiceAccount>[] = [
    {
      key: 'name',
      head: 'Name',
      cell: ({ id, name }) => (
        <Link href={pagePath('serviceAccount', { organizationId, serviceAccountId: id })}>
          <Name>{name}</Name>
        </Link>
      ),
    },
    { key: 'project', head: 'Project', cell: ({ projectId }) => <Name>{nameOf(projectId)}</Name> },
    { key: 'state', head: 'State', phone: 'side', cell: (account) => <AccountStateTag account={account} /> },
    { key: 'keys', head: 'Keys in use', isRight: true, cell: (account) => keysOf(account).filter(isInUse).length },
    {
      key: 'used',
      head: 'Last used',
      cell: (account) => {
        const last = keysOf(account)
          .flatMap(({ lastUsedAt }) => lastUsedAt ?? [])
          .toSorted()
          .at(-1)
        return last === undefined ? 'Never' : <Time at={last} isAgo />
      },
    },
    { key: 'since', head: 'Since', phone: 'off', cell: ({ createdAt }) => <Time at={createdAt} isAgo /> },
    {
      key: 'actions',
      head: '',
      isRight: true,
      phone: 'side',
      cell: (account) =>
        account.removedAt === null && (
          <Menu
            name={`Actions for ${account.name}`}
            trigger={<IconButton icon="more" name={`Actions for ${account.name}`} isSmall />}
            entries={entriesOf(account, (action) => onAction(action, account))}
          />
        ),
    },
  ]
  return <Table name="Service accounts" columns={columns} items={accounts} keyOf={({ id }) => id} />
}
