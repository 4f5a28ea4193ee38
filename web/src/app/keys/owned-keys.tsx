import { Name, Time } from '../../kit/content.tsx'
import { Link } from '../../kit/link.tsx'
import { Card } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { pagePath } from '../paths.ts'
import { useNames, type ApiKey } from '../queries.ts'
import type { KeyAction } from './key-actions.tsx'
import { KeyMenu } from './key-menu.tsx'
import { KeyState } from './key-state.tsx'
import { useKeyReasons } from './use-key-reasons.ts'

type Props = {
  readonly organizationId: string
  readonly title: string
  readonly keys: readonly ApiKey[]
  /** Without it they are looked at alone. */
  readonly onAction?: (action: KeyAction, apiKey: ApiKey) => void
}

/** The keys of somebody, or of a program. */
export function OwnedKeys({ organizationId, title, keys, onAction }: Props) {
  const nameOf = useNames(organizationId)
  const reasonOf = useKeyReasons(organizationId)
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
    { key: 'key', head: 'Key', cell: ({ lastFour }) => <code>…{lastFour}</code> },
    { key: 'project', head: 'Project', cell: ({ projectId }) => <Name>{nameOf(projectId)}</Name> },
    { key: 'state', head: 'State', phone: 'side', cell: (key) => <KeyState apiKey={key} /> },
    {
      key: 'used',
      head: 'Last used',
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'Never' : <Time at={lastUsedAt} isAgo />),
    },
    ...(onAction === undefined
      ? []
      : [
          {
            key: 'actions',
            head: '',
            isRight: true,
            phone: 'side' as const,
            cell: (key: ApiKey) => <KeyMenu apiKey={key} reasonOf={reasonOf} onAction={onAction} />,
          },
        ]),
  ]
  return (
    <Card title={title} isFlush={keys.length > 0}>
      {keys.length === 0 ? <p>None.</p> : <Table name={title} columns={columns} items={keys} keyOf={({ id }) => id} />}
    </Card>
  )
}
