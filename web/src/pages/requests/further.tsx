import { useState } from 'react'
import { shortPagesByItself, shortPagesOf, useNextPages, type LedgerPages } from '../../app/requests/short-pages.ts'
import { Button } from '../../kit/button.tsx'
import { Time } from '../../kit/content.tsx'
import { Row } from '../../kit/page.tsx'

type Props = {
  readonly query: LedgerPages
  /** Live without a stream every page would be read again each few seconds, so they are not looked for further back. */
  readonly isReadAgain: boolean
  readonly searchedTo: string
}

/** Goes on with a search for rows that are far behind, and says how far it is. */
export function Further({ query, isReadAgain, searchedTo }: Props) {
  const [pagesMax, setPagesMax] = useState(shortPagesByItself)
  const short = shortPagesOf(query)
  const isSearching = !isReadAgain && short < pagesMax && !query.isError
  useNextPages(query, isSearching)
  return (
    <Row>
      <span role="status">
        Searched back to <Time at={searchedTo} />
        {isSearching ? ' …' : '.'}
      </span>
      {isReadAgain ? (
        <span>“As read” looks further back.</span>
      ) : (
        // It stays where it is while the search goes on: whoever has pressed it keeps their place.
        <Button isSmall isBusy={isSearching} onClick={() => setPagesMax(short + shortPagesByItself)}>
          Search further
        </Button>
      )}
    </Row>
  )
}
