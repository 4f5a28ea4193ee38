import { useMemo, useState } from 'react'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { limitColumns } from '../../app/limit-columns.tsx'
import { useSetterReason } from '../../app/limits/use-setter-reason.ts'
import type { PageParams } from '../../app/paths.ts'
import { readAll } from '../../app/queries.ts'
import { useSearch } from '../../app/router.tsx'
import { useReason } from '../../app/session.ts'
import { useKeys } from '../../app/shortcuts.ts'
import { Empty, Loaded } from '../../app/states.tsx'
import { RemoveFromSubject, SubjectName, useSubjectName } from '../../app/subject-name.tsx'
import { Button, IconButton } from '../../kit/button.tsx'
import { Menu } from '../../kit/layers.tsx'
import { Page as Frame } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { searchCodec, text } from '../../lib/search-codec.ts'
import { AskedFor, useAnswer, type LimitRequest } from './asked-for.tsx'
import { WhichBinds } from './which-binds.tsx'
import { LimitDrawer } from './limit-drawer.tsx'

export type Limit = Schemas['Limit']

const limitsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['limits', organizationId],
    queryFn: ({ signal }) =>
      readAll((after) =>
        api(
          'GET /api/v1/organizations/{organizationId}/limits',
          { params: { organizationId }, query: { limit: 200, ...(after !== undefined && { after }) } },
          { signal },
        ),
      ),
  })

function removeLimit(organizationId: string, { id: limitId }: Limit) {
  return api('DELETE /api/v1/organizations/{organizationId}/limits/{limitId}', { params: { organizationId, limitId } })
}

type Open =
  | { readonly kind: 'set'; readonly limit: Limit | null; readonly asked?: LimitRequest }
  | { readonly kind: 'remove'; readonly limit: Limit }

const limitsSearch = searchCodec({ key: text(), model: text() })

export function Page({ params }: { readonly params: PageParams }) {
  const organizationId = params['organizationId'] ?? ''
  const [{ key, model }, change] = useSearch(limitsSearch)
  const mayReadKeys = useReason(organizationId, 'api-keys:read') === null
  const query = useQuery(limitsQuery(organizationId))
  const [open, setOpen] = useState<Open | null>(null)
  const answer = useAnswer(organizationId, () => {})
  const approve = (request: LimitRequest) => void answer.run({ request, verb: 'approve', answer: null })
  const reason = useReason(organizationId, 'limits:update')
  useKeys(useMemo(() => ({ c: () => (reason === null ? setOpen({ kind: 'set', limit: null }) : undefined) }), [reason]))
  const set = (
    <Button
      look="primary"
      icon="plus"
      shortcut="c"
      reason={reason}
      onClick={() => setOpen({ kind: 'set', limit: null })}
    >
      Set limit
    </Button>
  )
  return (
    <Frame
      title="Limits"
      said="Of several that apply to a request, the one with the least left decides. Answers say in their headers how it stands."
      actions={set}
    >
      <Loaded query={query} what="The limits">
        {(limits) =>
          limits.length === 0 ? (
            <Empty action={set}>No limits of this organization’s own. Those of its tier are in force.</Empty>
          ) : (
            <LimitTable organizationId={organizationId} limits={limits} onOpen={setOpen} />
          )
        }
      </Loaded>
      <AskedFor
        organizationId={organizationId}
        reason={reason}
        onApprove={(asked) => setOpen({ kind: 'set', limit: null, asked })}
      />
      {mayReadKeys && <WhichBinds organizationId={organizationId} apiKeyId={key} model={model} onChange={change} />}
      {open?.kind === 'set' && (
        <LimitDrawer
          organizationId={organizationId}
          limits={query.data ?? []}
          limit={open.limit}
          {...(open.asked !== undefined && { asked: open.asked })}
          onSet={() => (open.asked === undefined ? undefined : approve(open.asked))}
          onClose={() => setOpen(null)}
        />
      )}
      {open?.kind === 'remove' && (
        <RemoveFromSubject
          organizationId={organizationId}
          what="limit"
          subject={open.limit.subject}
          remove={() => removeLimit(organizationId, open.limit)}
          onClose={() => setOpen(null)}
        >
          From the next request on it holds nobody back. The other limits that apply stay in force.
        </RemoveFromSubject>
      )}
    </Frame>
  )
}

type TableProps = {
  readonly organizationId: string
  readonly limits: readonly Limit[]
  readonly onOpen: (open: Open) => void
}

function LimitTable({ organizationId, limits, onOpen }: TableProps) {
  const reasonOf = useSetterReason(organizationId, 'limits:update')
  const nameOf = useSubjectName(organizationId)
  const columns: readonly Column<Limit>[] = [
    { key: 'subject', head: 'For', cell: ({ subject }) => <SubjectName {...nameOf(subject)} /> },
    {
      key: 'model',
      head: 'Model',
      isOneLine: true,
      phone: 'side',
      cell: ({ model }) => (model === '*' ? 'all' : model),
    },
    ...limitColumns,
    {
      key: 'cached',
      head: 'Cached counts',
      isRight: true,
      phone: 'off',
      cell: ({ cachedReadPercent }) => `${cachedReadPercent} %`,
    },
    { key: 'by', head: 'Set by', phone: 'off', cell: ({ setBy }) => setBy },
    {
      key: 'actions',
      head: '',
      isRight: true,
      phone: 'side',
      cell: (limit) => (
        <Menu
          name={`Actions for ${nameOf(limit.subject).name}, ${limit.model}`}
          trigger={<IconButton icon="more" name="Actions" isSmall />}
          entries={[
            {
              kind: 'action',
              label: 'Edit…',
              reason: reasonOf(limit.setBy),
              act: () => onOpen({ kind: 'set', limit }),
            },
            {
              kind: 'action',
              label: 'Remove…',
              isBad: true,
              reason: reasonOf(limit.setBy),
              act: () => onOpen({ kind: 'remove', limit }),
            },
          ]}
        />
      ),
    },
  ]
  return <Table name="Limits" columns={columns} items={limits} keyOf={({ id }) => id} />
}
