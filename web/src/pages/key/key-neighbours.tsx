import { filterKeys, keysSearch } from '../../app/keys/keys-search.ts'
import { Neighbours } from '../../app/neighbours.tsx'
import { pagePath } from '../../app/paths.ts'
import { useKeyList } from '../../app/queries.ts'

type Props = { readonly organizationId: string; readonly apiKeyId: string; readonly search: string }

/** The keys before and after this one under the filter in the address. */
export function KeyNeighbours({ organizationId, apiKeyId, search }: Props) {
  const keys = filterKeys(useKeyList(organizationId), keysSearch.read(search).state)
  const hrefOf = (id: string) => pagePath('key', { organizationId, apiKeyId: id }) + search
  return <Neighbours what="key" hrefs={keys.map(({ id }) => hrefOf(id))} current={hrefOf(apiKeyId)} />
}
