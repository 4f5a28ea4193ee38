import { useQuery } from '@tanstack/react-query'
import type { KeyAction } from '../../app/keys/key-actions.tsx'
import { KeyMenu } from '../../app/keys/key-menu.tsx'
import { KeyState } from '../../app/keys/key-state.tsx'
import { useKeyReasons } from '../../app/keys/use-key-reasons.ts'
import { ownerOf, useCurrency, type ApiKey } from '../../app/queries.ts'
import { useReason } from '../../app/session.ts'
import { usageByGroupQuery } from '../../app/usage-sums.ts'
import { formatCount } from '../../format/figures.ts'
import { ExactMoney } from '../../app/exact-money.tsx'
import { dayBefore } from '../../format/time.ts'
import { Name, Time } from '../../kit/content.tsx'
import { Link } from '../../kit/link.tsx'
import { More, Table, type Column } from '../../kit/table.tsx'
import type { KeysSearch } from '../../app/keys/keys-search.ts'

type Props = {
  readonly organizationId: string
  readonly keys: readonly ApiKey[]
  /** Null where nobody has counted them. */
  readonly total: number | null
  readonly nameOf: (id: string | null) => string
  readonly hrefOf: (key: ApiKey) => string
  readonly sorting: Pick<KeysSearch, 'sort' | 'down'>
  readonly onSort: (sort: KeysSearch['sort'], isDown: boolean) => void
  readonly onAction: (action: KeyAction, apiKey: ApiKey) => void
  /** The ids of chosen keys; null while nothing is chosen. */
  readonly chosen: ReadonlySet<string> | null
  readonly onChoice: (id: string) => void
}

/** As long as the page Usage shows where nothing else is asked for. */
const daysSummed = 30

export function KeyTable({
  organizationId,
  keys,
  total,
  nameOf,
  hrefOf,
  sorting,
  onSort,
  onAction,
  chosen,
  onChoice,
}: Props) {
  const usage = useQuery({
    ...usageByGroupQuery(organizationId, { from: dayBefore(daysSummed - 1), to: dayBefore(-1), groupBy: 'key' }),
    enabled: useReason(organizationId, 'usage:read') === null,
  }).data
  const currency = useCurrency()
  const reasonOf = useKeyReasons(organizationId)
  const columns: readonly Column<ApiKey>[] = [
    {
      key: 'name',
      head: 'Name',
      canSort: true,
      cell: (key) => (
        <>
          {chosen !== null && (
            <input
              type="checkbox"
              aria-label={`Choose ${key.name}`}
              checked={chosen.has(key.id)}
              onChange={() => onChoice(key.id)}
            />
          )}{' '}
          <Link href={hrefOf(key)}>
            <Name>{key.name}</Name>
          </Link>
        </>
      ),
    },
    { key: 'key', head: 'Key', phone: 'line', cell: ({ lastFour }) => <code>…{lastFour}</code> },
    { key: 'project', head: 'Project', cell: ({ projectId }) => <Name>{nameOf(projectId)}</Name> },
    { key: 'owner', head: 'Owner', phone: 'off', cell: (key) => <Name>{nameOf(ownerOf(key))}</Name> },
    { key: 'state', head: 'State', phone: 'side', cell: (key) => <KeyState apiKey={key} /> },
    {
      key: 'used',
      head: 'Last used',
      canSort: true,
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'Never' : <Time at={lastUsedAt} isAgo />),
    },
    {
      key: 'requests',
      head: 'Requests, 30 days',
      isRight: true,
      phone: 'off',
      cell: ({ id }) => (usage === undefined ? '–' : formatCount(usage.get(id)?.requests ?? 0)),
    },
    {
      key: 'cost',
      head: `Cost, 30 days, ${currency}`,
      isRight: true,
      cell: ({ id }) => (usage === undefined ? '–' : <ExactMoney micros={usage.get(id)?.costMicros ?? '0'} />),
    },
    {
      key: 'ends',
      head: 'Ends',
      canSort: true,
      phone: 'off',
      cell: ({ expiresAt }) => (expiresAt === null ? 'Never' : <Time at={expiresAt} isAgo={false} />),
    },
    {
      key: 'actions',
      head: '',
      isRight: true,
      phone: 'side',
      cell: (key) => <KeyMenu apiKey={key} reasonOf={reasonOf} onAction={onAction} />,
    },
  ]
  return (
    <>
      <Table
        name="API keys"
        columns={columns}
        items={keys}
        keyOf={({ id }) => id}
        isSelected={({ id }) => chosen?.has(id) === true}
        sorting={{ key: sorting.sort, isDown: sorting.down }}
        onSort={({ key, isDown }) => onSort(key as KeysSearch['sort'], isDown)}
      />
      <More
        shown={keys.length}
        what={total !== null && keys.length !== total ? `of ${total} keys` : keys.length === 1 ? 'key' : 'keys'}
        hasMore={false}
        isBusy={false}
        onMore={() => {}}
      />
    </>
  )
}
