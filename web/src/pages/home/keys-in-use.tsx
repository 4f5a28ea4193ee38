import { useQuery } from '@tanstack/react-query'
import { isInUse, KeyState } from '../../app/keys/key-state.tsx'
import { pagePath } from '../../app/paths.ts'
import { keysQuery, type ApiKey } from '../../app/queries.ts'
import { Loaded } from '../../app/states.tsx'
import { Name, Time } from '../../kit/content.tsx'
import { Link } from '../../kit/link.tsx'
import { Card } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'

const shownMax = 5

/** The keys that were used last, for who sees keys and not what is asked with them. */
export function KeysInUse({ organizationId }: { readonly organizationId: string }) {
  const query = useQuery(keysQuery(organizationId))
  const columns: readonly Column<ApiKey>[] = [
    {
      key: 'name',
      head: 'API key',
      cell: ({ id, name }) => (
        <Link href={pagePath('key', { organizationId, apiKeyId: id })}>
          <Name>{name}</Name>
        </Link>
      ),
    },
    { key: 'state', head: 'State', phone: 'side', cell: (key) => <KeyState apiKey={key} /> },
    {
      key: 'used',
      head: 'Last used',
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'Never' : <Time at={lastUsedAt} isAgo />),
    },
  ]
  return (
    <Card title="Keys used last" isFlush>
      <Loaded query={query} what="The API keys" rows={shownMax}>
        {(keys) => {
          const last = keys
            .filter(isInUse)
            .toSorted((one, other) => (other.lastUsedAt ?? '').localeCompare(one.lastUsedAt ?? ''))
            .slice(0, shownMax)
          return last.length === 0 ? (
            <p style={{ padding: '4px 16px 16px' }}>No keys in use.</p>
          ) : (
            <Table name="Keys used last" columns={columns} items={last} keyOf={({ id }) => id} />
          )
        }}
      </Loaded>
    </Card>
  )
}
