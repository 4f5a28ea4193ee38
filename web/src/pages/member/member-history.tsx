import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../api/types.ts'
import { wordsOfAction } from '../../app/audit/action-words.ts'
import { readChanges } from '../../app/audit/queries.ts'
import { pagePath } from '../../app/paths.ts'
import { useNames } from '../../app/queries.ts'
import { useReason } from '../../app/session.ts'
import { Loaded } from '../../app/states.tsx'
import { LinkButton } from '../../kit/button.tsx'
import { Name, Time } from '../../kit/content.tsx'
import { Card } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'

type Entry = Schemas['AuditEntry']
const shown = 10
type Props = { readonly organizationId: string; readonly memberId: string }

/** What the member has changed lately, by the audit log. */
export function MemberHistory({ organizationId, memberId }: Props) {
  const reason = useReason(organizationId, 'audit:read')
  const nameOf = useNames(organizationId)
  const query = useQuery({
    queryKey: ['audit', organizationId, 'of', memberId],
    queryFn: ({ signal }) =>
      readChanges(organizationId, { actor: memberId, limit: shown }, signal).then(({ data }) => data),
    enabled: reason === null,
  })
  if (reason !== null) return null
  const columns: readonly Column<Entry>[] = [
    { key: 'action', head: 'What', cell: ({ action }) => wordsOfAction(action) ?? action },
    { key: 'target', head: 'To what', cell: ({ target }) => <Name>{nameOf(target)}</Name> },
    { key: 'at', head: 'When', phone: 'side', cell: ({ at }) => <Time at={at} isAgo /> },
  ]
  const isAny = (query.data?.length ?? 0) > 0
  const all = isAny && (
    <LinkButton isSmall href={`${pagePath('audit', { organizationId })}?actor=${memberId}`}>
      All of it
    </LinkButton>
  )
  return (
    <Card title="What they have changed" isFlush={isAny} actions={all}>
      <Loaded query={query} what="What they have changed" rows={3}>
        {(entries) =>
          entries.length === 0 ? (
            <p>Nothing yet.</p>
          ) : (
            <Table name="What they have changed" columns={columns} items={entries} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
    </Card>
  )
}
