import { useQuery } from '@tanstack/react-query'
import { filterKeys, keysSearch } from '../../app/keys/keys-search.ts'
import { Neighbours } from '../../app/neighbours.tsx'
import { pagePath } from '../../app/paths.ts'
import { keysQuery } from '../../app/queries.ts'

type Props = { readonly organizationId: string; readonly apiKeyId: string; readonly search: string }

/** The keys before and after this one under the filter in the address. */
export function KeyNeighbours({ organizationId, apiKeyId, search }: Props) {
  const { data = [], isPending } = useQuery(keysQuery(organizationId))
  const keys = filterKeys(data, keysSearch.read(search).state)
  const hrefOf = (id: string) => pagePath('key', { organizationId, apiKeyId: id }) + search
  const hrefs = isPending ? null : keys.map(({ id }) => hrefOf(id))
  return <Neighbours what="key" hrefs={hrefs} current={hrefOf(apiKeyId)} />
}
