import { useQuery } from '@tanstack/react-query'
import { toKeyFilter, type KeysSearch } from '../../app/keys/keys-search.ts'
import { entriesMax, foundKeysQuery, type ApiKey } from '../../app/queries.ts'

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
