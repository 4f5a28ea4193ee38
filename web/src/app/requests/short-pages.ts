// Pages of requests that came short, because the service had looked through as many as it does at once.

import { useEffect } from 'react'
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import type { AnswerOf } from '../../api/client.ts'

type LedgerPage = AnswerOf<'GET /api/v1/organizations/{organizationId}/ledger'>
export type LedgerPages = UseInfiniteQueryResult<InfiniteData<LedgerPage>>

/** So many pages that came short are gone on from by themselves: more is for whoever looks to decide. */
export const shortPagesByItself = 10

/** How many pages have come short since the last one that did not. */
export function shortPagesOf({ data }: LedgerPages): number {
  const pages = data?.pages ?? []
  return pages.length - 1 - pages.findLastIndex((page) => page.searchedTo === null)
}

/** Up to when the service has looked where its last page came short; null where nothing is left to search. */
export function searchedToOf({ data, hasNextPage }: LedgerPages): string | null {
  return hasNextPage ? (data?.pages.at(-1)?.searchedTo ?? null) : null
}

/** Reads one page after the other as long as it is wanted. */
export function useNextPages(query: LedgerPages, isWanted: boolean): void {
  const { fetchNextPage } = query
  const goesOn = isWanted && !query.isFetching && !query.isPlaceholderData && !query.isError
  useEffect(() => {
    if (goesOn) void fetchNextPage()
  }, [goesOn, fetchNextPage])
}
