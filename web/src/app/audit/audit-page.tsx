import { useState } from 'react'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { toProblem } from '../../api/problem.ts'
import type { Schemas } from '../../api/types.ts'
import { ExportMenu } from '../export-menu.tsx'
import { useNames } from '../queries.ts'
import { useSearch } from '../router.tsx'
import { DateFilters } from '../scope-filters.tsx'
import { NothingMatches, ProblemBox } from '../states.tsx'
import { UnreadNote } from '../unread-note.tsx'
import { Skeleton } from '../../kit/skeleton.tsx'
import { dayMs, formatInstant } from '../../format/time.ts'
import { Button } from '../../kit/button.tsx'
import { Name } from '../../kit/content.tsx'
import { Drawer } from '../../kit/layers.tsx'
import { KeyValue, Page as Frame, Row } from '../../kit/page.tsx'
import { SearchField } from '../../kit/search-field.tsx'
import { More, Table, type Column } from '../../kit/table.tsx'
import { day, searchCodec, text } from '../../lib/search-codec.ts'
import { wordsOfAction } from './action-words.ts'
import { Diff } from './diff.tsx'
import { exportAddress, readChanges } from './queries.ts'
import { Sinks } from './sinks.tsx'
import { Verify } from './verify.tsx'

type Entry = Schemas['AuditEntry']
const auditSearch = searchCodec({ action: text(), actor: text(), target: text(), from: day, to: day })

type Props = {
  /** Null is the installation itself. */
  readonly organizationId: string | null
  readonly title: string
  readonly said: string
}

/** A log of changes, in a chain that shows when one was altered. */
export function AuditPage({ organizationId, title, said }: Props) {
  const [search, change, unread] = useSearch(auditSearch)
  const [open, setOpen] = useState<Entry | null>(null)
  const { action, actor, target } = search
  const filter = toFilter(search)
  const query = useInfiniteQuery({
    queryKey: ['audit', organizationId, filter],
    queryFn: ({ pageParam, signal }) =>
      readChanges(organizationId, { ...filter, limit: 100, ...(pageParam !== '' && { after: pageParam }) }, signal),
    initialPageParam: '',
    getNextPageParam: (last) => last.next,
    placeholderData: keepPreviousData,
  })
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  const fileIn = (format: 'csv' | 'jsonl') => exportAddress(organizationId, format)
  const filters = (
    <>
      <SearchField
        label="Action, such as api-keys:rotate"
        value={action}
        onText={(value) => change({ action: value })}
      />
      <SearchField label="Who, by id" value={actor} onText={(value) => change({ actor: value })} />
      <SearchField label="To what, by id" value={target} onText={(value) => change({ target: value })} />
      <Row>
        <DateFilters search={search} onChange={change} />
      </Row>
    </>
  )
  return (
    <Frame
      title={title}
      said={said}
      actions={<ExportMenu parts={[{ label: 'The whole log', addressIn: fileIn }]} />}
      filters={filters}
    >
      <UnreadNote unread={unread} />
      <Verify organizationId={organizationId} />
      <Sinks organizationId={organizationId} />
      {query.error !== null && (
        <ProblemBox
          problem={toProblem(query.error)}
          what="The audit log could not be read."
          onAgain={() => void query.refetch()}
        />
      )}
      {query.isPending && <Skeleton rows={12} />}
      {query.isSuccess && rows.length === 0 && (
        <NothingMatches
          what="changes"
          onClear={() => change({ action: '', actor: '', target: '', from: '', to: '' })}
        />
      )}
      {rows.length > 0 && <AuditTable organizationId={organizationId} rows={rows} onOpen={setOpen} />}
      {rows.length > 0 && (
        <More
          shown={rows.length}
          what={rows.length === 1 ? 'change' : 'changes'}
          hasMore={query.hasNextPage}
          isBusy={query.isFetchingNextPage}
          onMore={() => void query.fetchNextPage()}
        />
      )}
      {open !== null && <EntryDrawer entry={open} organizationId={organizationId} onClose={() => setOpen(null)} />}
    </Frame>
  )
}

function toFilter({ action, actor, target, from, to }: ReturnType<typeof auditSearch.read>['state']) {
  return {
    ...(action !== '' && { action }),
    ...(actor !== '' && { actor }),
    ...(target !== '' && { target }),
    ...(from !== '' && { from: `${from}T00:00:00Z` }),
    ...(to !== '' && { to: new Date(Date.parse(`${to}T00:00:00Z`) + dayMs).toISOString() }),
  }
}

function AuditTable({
  organizationId,
  rows,
  onOpen,
}: {
  readonly organizationId: string | null
  readonly rows: readonly Entry[]
  readonly onOpen: (entry: Entry) => void
}) {
  const nameOf = useNames(organizationId)
  const columns: readonly Column<Entry>[] = [
    {
      key: 'action',
      head: 'What',
      cell: (entry) => {
        const words = wordsOfAction(entry.action)
        return (
          <>
            <Button isSmall look="quiet" onClick={() => onOpen(entry)}>
              {words ?? entry.action}
            </Button>{' '}
            {words !== null && <small>{entry.action}</small>}
          </>
        )
      },
    },
    {
      key: 'at',
      head: 'Time, UTC',
      phone: 'side',
      cell: ({ at }) => <time dateTime={at}>{formatInstant(at, { zone: 'UTC' })}</time>,
    },
    { key: 'actor', head: 'Who', cell: ({ actor, actorName }) => <Name>{actorName ?? nameOf(actor)}</Name> },
    { key: 'target', head: 'To what', cell: ({ target }) => <Name>{nameOf(target)}</Name> },
    { key: 'address', head: 'Address', phone: 'off', cell: ({ address }) => address ?? '–' },
  ]
  return <Table name="Changes, newest first" columns={columns} items={rows} keyOf={({ id }) => id} />
}

function EntryDrawer({
  entry,
  organizationId,
  onClose,
}: {
  readonly entry: Entry
  readonly organizationId: string | null
  readonly onClose: () => void
}) {
  const nameOf = useNames(organizationId)
  return (
    <Drawer title={wordsOfAction(entry.action) ?? entry.action} isOpen onClose={onClose}>
      <KeyValue
        rows={[
          ['Action', <code key="action">{entry.action}</code>],
          ['Time', `${formatInstant(entry.at, { zone: 'UTC' })} UTC`],
          ['Who', <Name key="actor">{entry.actorName ?? nameOf(entry.actor)}</Name>],
          ['Who, by id', <code key="id">{entry.actor}</code>],
          ['To what', <code key="target">{entry.target}</code>],
          ['Address', entry.address ?? '–'],
          ['Request', <code key="request">{entry.requestId ?? '–'}</code>],
          ['Row', entry.sequence === null ? '–' : String(entry.sequence)],
        ]}
      />
      <Diff before={entry.before} after={entry.after} />
    </Drawer>
  )
}
