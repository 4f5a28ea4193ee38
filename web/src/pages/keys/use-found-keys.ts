import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { toKeyFilter, type KeysSearch } from '../../app/keys/keys-search.ts'
import { entriesMax, readAll, type ApiKey, type KeyFilter } from '../../app/queries.ts'

/** Those that the service finds by a filter, for an organization that has more than are read at once. */
const foundKeysQuery = (organizationId: string, filter: KeyFilter) =>
  queryOptions({
    queryKey: ['keys', organizationId, 'found', filter],
    queryFn: ({ signal }) =>
      readAll((after) =>
        api(
          'GET /api/v1/organizations/{organizationId}/api-keys',
          { params: { organizationId }, query: { limit: 200, ...(after !== undefined && { after }), ...filter } },
          { signal },
        ),
      ),
  })

/**
 * The keys that a search can find: those that were read and, where there are more than are read at once, those that the
 * service finds by the same search.
 */
export function useFoundKeys(organizationId: string, read: readonly ApiKey[], search: KeysSearch) {
  const isCut = read.length >= entriesMax
  const filter = toKeyFilter(search)
  const found = useQuery({
    ...foundKeysQuery(organizationId, filter ?? {}),
    enabled: isCut && filter !== null,
  })
  const known = new Set(read.map(({ id }) => id))
  const others = isCut ? (found.data ?? []).filter(({ id }) => !known.has(id)) : []
  return { keys: others.length === 0 ? read : [...read, ...others], isCut, isSearching: found.isFetching }
}
