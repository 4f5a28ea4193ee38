import { useCallback, useMemo } from 'react'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { addressOf } from '../../api/client.ts'
import { toProblem } from '../../api/problem.ts'
import { useLive } from '../../app/events.ts'
import { ExportMenu } from '../../app/export-menu.tsx'
import { pagePath, type PageParams } from '../../app/paths.ts'
import { ledgerQuery } from '../../app/queries.ts'
import { RequestTable } from '../../app/requests/request-table.tsx'
import { isSummed, requestsSearch, toFilter, type RequestsSearch } from '../../app/requests/requests-search.ts'
import { searchedToOf } from '../../app/requests/short-pages.ts'
import { usePlace, useSearch } from '../../app/router.tsx'
import { useKeys } from '../../app/shortcuts.ts'
import { Empty, NothingMatches, ProblemBox } from '../../app/states.tsx'
import { UnreadNote } from '../../app/unread-note.tsx'
import { formatCount } from '../../format/figures.ts'
import { Skeleton } from '../../kit/skeleton.tsx'
import { Button, LinkButton } from '../../kit/button.tsx'
import { Page as Frame, Stack } from '../../kit/page.tsx'
import { Segments } from '../../kit/tabs.tsx'
import { More } from '../../kit/table.tsx'
import { RequestFilters } from './filters.tsx'
import { Further } from './further.tsx'
import { useHeldRows } from './held-rows.ts'
import { RequestHistogram } from './request-histogram.tsx'
import { RequestSums } from './request-sums.tsx'
import { putTogether, useTail } from './use-tail.ts'

/** Live, where no stream tells of new requests. */
const withoutStreamMs = 5_000
const liveRowsMax = 200

export function Page({ params }: { readonly params: PageParams }) {
  const organizationId = params['organizationId'] ?? ''
  const [search, change, unread] = useSearch(requestsSearch)
  const { search: written } = usePlace()
  const isLive = search.live === 'on'
  const { query, rows, passedOver, searchedTo, isReadAgain } = useRequests(organizationId, search)
  useKeys(useMemo(() => ({ l: () => change({ live: isLive ? 'off' : 'on' }) }), [change, isLive]))
  const held = useHeldRows(rows, isLive)
  const actions = (
    <Actions
      organizationId={organizationId}
      search={search}
      newRows={held.newRows}
      passedOver={passedOver}
      onNew={() => held.release()}
      onLive={(live) => change({ live })}
    />
  )
  return (
    <Frame
      title="Requests"
      actions={actions}
      filters={<RequestFilters organizationId={organizationId} search={search} onChange={change} />}
    >
      <UnreadNote unread={unread} />
      {query.error !== null && (
        <ProblemBox
          problem={toProblem(query.error)}
          what="The requests could not be read."
          onAgain={() => void query.refetch()}
        />
      )}
      {query.isPending && <Skeleton rows={12} />}
      {query.isSuccess && rows.length === 0 && searchedTo === null && (
        <Nothing
          organizationId={organizationId}
          isFiltered={written !== ''}
          onClear={() => change(requestsSearch.read('').state)}
        />
      )}
      {rows.length > 0 && (
        <Stack>
          {isSummed(search) ? (
            <RequestSums organizationId={organizationId} search={search} onSpan={change} />
          ) : (
            <RequestHistogram organizationId={organizationId} search={search} onSpan={change} />
          )}
          <div ref={held.frame}>
            <RequestTable organizationId={organizationId} rows={held.rows} search={written} />
          </div>
          <More
            shown={rows.length}
            what={wordOf(rows.length)}
            hasMore={query.hasNextPage && searchedTo === null && !isLive}
            isBusy={query.isFetchingNextPage}
            onMore={() => void query.fetchNextPage()}
          />
        </Stack>
      )}
      {searchedTo !== null && (
        <Further
          key={JSON.stringify([organizationId, toFilter(search)])}
          query={query}
          isReadAgain={isReadAgain}
          searchedTo={searchedTo}
        />
      )}
    </Frame>
  )
}

/** The requests as read, and live those that come meanwhile: by the stream, or where there is none by reading again. */
function useRequests(organizationId: string, search: RequestsSearch) {
  const isLive = search.live === 'on'
  const hasStream = useLive()
  const filter = toFilter(search)
  const client = useQueryClient()
  const onBegin = useCallback(
    () => void client.invalidateQueries({ queryKey: ['ledger-as-read', organizationId] }),
    [client, organizationId],
  )
  const tail = useTail({ organizationId, filter, isOn: isLive, rowsMax: liveRowsMax, onBegin })
  const isReadAgain = isLive && !tail.isFollowed
  const query = useInfiniteQuery({
    ...ledgerQuery(organizationId, filter, { limit: isLive ? liveRowsMax : 100, isLive: isReadAgain }),
    refetchInterval: isReadAgain && !hasStream && withoutStreamMs,
  })
  const read = query.data?.pages.flatMap(({ data }) => data) ?? []
  const rows = isLive ? putTogether(tail, read, liveRowsMax) : read
  // Live no more rows are shown, so none are looked for.
  const searchedTo = isLive && rows.length >= liveRowsMax ? null : searchedToOf(query)
  return { query, rows, passedOver: tail.passedOver, searchedTo, isReadAgain }
}

const wordOf = (requests: number) => (requests === 1 ? 'request' : 'requests')

type ActionsProps = {
  readonly organizationId: string
  readonly search: RequestsSearch
  readonly newRows: number
  readonly passedOver: number
  readonly onNew: () => void
  readonly onLive: (live: RequestsSearch['live']) => void
}

function Actions({ organizationId, search, newRows, passedOver, onNew, onLive }: ActionsProps) {
  const filter = toFilter(search)
  const fileIn = (format: 'csv' | 'jsonl') =>
    addressOf('/api/v1/organizations/{organizationId}/ledger/export', { organizationId }, { ...filter, format })
  return (
    <>
      {passedOver > 0 && (
        <small title="No more than twenty a second are shown as they come. “As read” lists them all.">
          {`${formatCount(passedOver)} passed over`}
        </small>
      )}
      {search.live === 'on' && newRows > 0 && (
        // Above the rows it would move them away under the hand.
        <Button isSmall title="The rows stand still while you are at them." onClick={onNew}>
          {`${newRows} new`}
        </Button>
      )}
      <Segments
        name="Updates"
        tabs={[
          { value: 'off', label: 'As read' },
          { value: 'on', label: 'Live' },
        ]}
        chosen={search.live}
        onChoice={onLive}
      />
      <ExportMenu parts={[{ label: 'These requests', addressIn: fileIn }]} />
    </>
  )
}

function Nothing({
  organizationId,
  isFiltered,
  onClear,
}: {
  readonly organizationId: string
  readonly isFiltered: boolean
  readonly onClear: () => void
}) {
  if (isFiltered) return <NothingMatches what="requests" onClear={onClear} />
  return (
    <Empty action={<LinkButton href={pagePath('quickstart', { organizationId })}>To the quickstart</LinkButton>}>
      No requests in the last 7 days.
    </Empty>
  )
}
