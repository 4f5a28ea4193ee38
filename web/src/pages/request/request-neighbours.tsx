import { useInfiniteQuery } from '@tanstack/react-query'
import { Neighbours, stillRead } from '../../app/neighbours.tsx'
import { pagePath } from '../../app/paths.ts'
import { ledgerQuery } from '../../app/queries.ts'
import { requestsSearch, toFilter } from '../../app/requests/requests-search.ts'
import { searchedToOf, shortPagesByItself, shortPagesOf, useNextPages } from '../../app/requests/short-pages.ts'

type Props = { readonly organizationId: string; readonly requestId: string; readonly search: string }

/** The requests before and after this one under the filter in the address. */
export function RequestNeighbours({ organizationId, requestId, search }: Props) {
  const filter = toFilter(requestsSearch.read(search).state)
  const query = useInfiniteQuery(ledgerQuery(organizationId, filter))
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  const hrefOf = (id: string) => pagePath('request', { organizationId, requestId: id }) + search
  // A charge and its reversal are two rows of one request.
  const hrefs = [...new Set(rows.map((row) => hrefOf(row.requestId)))]
  const current = hrefOf(requestId)
  const isShort = searchedToOf(query) !== null
  const isSearching = isShort && !query.isError && shortPagesOf(query) < shortPagesByItself
  useNextPages(query, isSearching && hrefs.indexOf(current) === hrefs.length - 1)
  return (
    <Neighbours
      what="request"
      hrefs={query.isPending ? null : hrefs}
      current={current}
      atEnd={isSearching ? stillRead : isShort ? 'Search further in the list for the next one.' : undefined}
      onEnd={() => (query.hasNextPage && !query.isFetchingNextPage ? void query.fetchNextPage() : undefined)}
    />
  )
}
