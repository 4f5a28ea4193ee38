import { useEffect, useState } from 'react'
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import type { AnswerOf } from '../../api/client.ts'
import { Button } from '../../kit/button.tsx'
import { Time } from '../../kit/content.tsx'
import { Row } from '../../kit/page.tsx'

type LedgerPage = AnswerOf<'GET /api/v1/organizations/{organizationId}/ledger'>
type LedgerPages = UseInfiniteQueryResult<InfiniteData<LedgerPage>>

/** So many pages that came short are gone on from by themselves: more is for whoever looks to decide. */
const pagesByItself = 10

/** Up to when the service has looked where its last page came short; null where nothing is left to search. */
export function searchedToOf({ data, hasNextPage }: LedgerPages): string | null {
  return hasNextPage ? (data?.pages.at(-1)?.searchedTo ?? null) : null
}

type Props = {
  readonly query: LedgerPages
  /** Live rows are read again and again, and not looked for further back. */
  readonly isLive: boolean
  readonly searchedTo: string
}

/** Goes on with a search for rows that are far behind, and says how far it is. */
export function Further({ query, isLive, searchedTo }: Props) {
  const [pagesMax, setPagesMax] = useState(pagesByItself)
  const pages = query.data?.pages ?? []
  const short = pages.length - 1 - pages.findLastIndex((page) => page.searchedTo === null)
  const isSearching = !isLive && short < pagesMax && !query.isError
  const goesOn = isSearching && !query.isFetching && !query.isPlaceholderData
  const { fetchNextPage } = query
  useEffect(() => {
    if (goesOn) void fetchNextPage()
  }, [goesOn, fetchNextPage])
  return (
    <Row>
      <span role="status">
        Searched back to <Time at={searchedTo} />
        {isSearching ? ' …' : '.'}
      </span>
      {!isLive && (
        // It stays where it is while the search goes on: whoever has pressed it keeps their place.
        <Button isSmall isBusy={isSearching} onClick={() => setPagesMax(short + pagesByItself)}>
          Search further
        </Button>
      )}
    </Row>
  )
}
