import { KeyState } from '../../app/keys/key-state.tsx'
import { pagePath } from '../../app/paths.ts'
import { useKeyList, useNames, type ApiKey } from '../../app/queries.ts'
import { useReason } from '../../app/session.ts'
import { Name, Time } from '../../kit/content.tsx'
import { Link } from '../../kit/link.tsx'
import { Card } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'

type Props = { readonly organizationId: string; readonly memberId: string }

/** The keys that end with their owner. */
export function MemberKeys({ organizationId, memberId }: Props) {
  const reason = useReason(organizationId, 'api-keys:read')
  const keys = useKeyList(organizationId).filter(({ ownerId }) => ownerId === memberId)
  const nameOf = useNames(organizationId)
  if (reason !== null) return null
  const columns: readonly Column<ApiKey>[] = [
    {
      key: 'name',
      head: 'Name',
      cell: ({ id, name }) => (
        <Link href={pagePath('key', { organizationId, apiKeyId: id })}>
          <Name>{name}</Name>
        </Link>
      ),
    },
    { key: 'project', head: 'Project', cell: ({ projectId }) => <Name>{nameOf(projectId)}</Name> },
    { key: 'state', head: 'State', phone: 'side', cell: (key) => <KeyState apiKey={key} /> },
    {
      key: 'used',
      head: 'Last used',
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'Never' : <Time at={lastUsedAt} isAgo />),
    },
  ]
  return (
    <Card title="Keys they own" isFlush={keys.length > 0}>
      {keys.length === 0 ? (
        <p>None.</p>
      ) : (
        <Table name="Keys they own" columns={columns} items={keys} keyOf={({ id }) => id} />
      )}
    </Card>
  )
}
