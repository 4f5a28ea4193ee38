// What several pages read: each by one name, so that none is read twice.

import { infiniteQueryOptions, keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { api, type AnswerOf, type QueryOf } from '../api/client.ts'
import type { Schemas } from '../api/types.ts'
import { useMembership, useReason, useSession } from './session.ts'

export type ApiKey = Schemas['ApiKey']
export type Project = Schemas['Project']
export type Member = Schemas['Member']
export type Price = Schemas['Price']
export type LedgerEntry = Schemas['LedgerEntry']
export type Subject = Schemas['Subject']
export type OwnRole = Schemas['Role']
export type ServiceAccount = Schemas['ServiceAccount']

type Page<Item> = { readonly data: readonly Item[]; readonly next: string | null }

/** Pages of 200 are read until there are this many, the oldest first; who has more finds them by the filters. */
export const entriesMax = 2_000

export async function readAll<Item>(
  read: (after: string | undefined) => Promise<Page<Item>>,
): Promise<readonly Item[]> {
  const all: Item[] = []
  let after: string | undefined
  do {
    const page = await read(after)
    all.push(...page.data)
    after = page.next ?? undefined
  } while (after !== undefined && all.length < entriesMax)
  return all
}

const given = (after: string | undefined) => ({ limit: 200, ...(after !== undefined && { after }) })

export const keysQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['keys', organizationId],
    queryFn: ({ signal }) =>
      readAll((after) =>
        api(
          'GET /api/v1/organizations/{organizationId}/api-keys',
          { params: { organizationId }, query: given(after) },
          { signal },
        ),
      ),
  })

type KeysQuery = QueryOf<'GET /api/v1/organizations/{organizationId}/api-keys'>
export type KeyFilter = Omit<KeysQuery, 'after' | 'limit'>

/** Those under which people's questions in the dashboard count; they are in no list of keys. */
const playgroundKeysQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['keys', organizationId, 'playground'],
    queryFn: ({ signal }) =>
      readAll((after) =>
        api(
          'GET /api/v1/organizations/{organizationId}/api-keys',
          { params: { organizationId }, query: { ...given(after), kind: 'playground' } },
          { signal },
        ),
      ),
  })

export const projectsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['projects', organizationId],
    queryFn: ({ signal }) =>
      readAll((after) =>
        api(
          'GET /api/v1/organizations/{organizationId}/projects',
          { params: { organizationId }, query: given(after) },
          { signal },
        ),
      ),
  })

export const membersQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['members', organizationId],
    queryFn: ({ signal }) =>
      readAll((after) =>
        api(
          'GET /api/v1/organizations/{organizationId}/members',
          { params: { organizationId }, query: given(after) },
          { signal },
        ),
      ),
  })

export const organizationQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['organization', organizationId],
    queryFn: ({ signal }) =>
      api('GET /api/v1/organizations/{organizationId}', { params: { organizationId } }, { signal }),
  })

/** The accounts of programs, those that were removed included. */
export const serviceAccountsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['service-accounts', organizationId],
    queryFn: ({ signal }) =>
      readAll((after) =>
        api(
          'GET /api/v1/organizations/{organizationId}/service-accounts',
          { params: { organizationId }, query: given(after) },
          { signal },
        ),
      ),
  })

/** The roles that an organization has made of the built-in ones. */
export const rolesQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['roles', organizationId],
    queryFn: ({ signal }) =>
      api('GET /api/v1/organizations/{organizationId}/roles', { params: { organizationId } }, { signal }).then(
        ({ data }) => data,
      ),
  })

/** Every organization, for who runs the installation. */
export const organizationsQuery = queryOptions({
  queryKey: ['organizations'],
  queryFn: ({ signal }) => readAll((after) => api('GET /api/v1/organizations', { query: given(after) }, { signal })),
})

/** The prices of everyone and an organization's own; for null, all of the installation. */
export const pricesQuery = (organizationId: string | null) =>
  queryOptions({
    queryKey: ['prices', organizationId],
    queryFn: ({ signal }) =>
      readAll((after) =>
        api(
          'GET /api/v1/prices',
          { query: { ...given(after), ...(organizationId !== null && { organizationId }) } },
          { signal },
        ),
      ),
  })

type LedgerQuery = QueryOf<'GET /api/v1/organizations/{organizationId}/ledger'>
export type LedgerFilter = Omit<LedgerQuery, 'after' | 'limit'>

function readLedger(organizationId: string, query: LedgerQuery, signal: AbortSignal) {
  return api('GET /api/v1/organizations/{organizationId}/ledger', { params: { organizationId }, query }, { signal })
}

/** As read once, or kept up with the requests that are settled. */
export const ledgerQuery = (organizationId: string, filter: LedgerFilter, { limit = 100, isLive = false } = {}) =>
  infiniteQueryOptions({
    queryKey: [isLive ? 'ledger' : 'ledger-as-read', organizationId, filter, limit],
    queryFn: ({ pageParam, signal }) =>
      readLedger(organizationId, { ...filter, limit, ...(pageParam !== '' && { after: pageParam }) }, signal),
    initialPageParam: '',
    getNextPageParam: (last: AnswerOf<'GET /api/v1/organizations/{organizationId}/ledger'>) => last.next,
    placeholderData: keepPreviousData,
  })

/** The installation's one currency. It is said with the session: amounts are shown to who may not read prices, too. */
export function useCurrency(): string {
  return useSession()?.currency ?? 'USD'
}

/** The organization's keys; none for who may not read them, and until they are here. */
export function useKeyList(organizationId: string): readonly ApiKey[] {
  const enabled = useReason(organizationId, 'api-keys:read') === null && organizationId !== ''
  return useQuery({ ...keysQuery(organizationId), enabled }).data ?? []
}

/** Likewise its projects, archived ones included. */
export function useProjects(organizationId: string): readonly Project[] {
  const enabled = useReason(organizationId, 'projects:read') === null && organizationId !== ''
  return useQuery({ ...projectsQuery(organizationId), enabled }).data ?? []
}

/** Likewise those in which something new may be. */
export function useOpenProjects(organizationId: string): readonly Project[] {
  return useProjects(organizationId).filter(({ archivedAt }) => archivedAt === null)
}

/** Why nothing new can be in any project; null where it can. What could not be read is not said to be nothing. */
export function useNoProjectReason(organizationId: string): string | null {
  const unread = useReason(organizationId, 'projects:read')
  const { data, error } = useQuery({ ...projectsQuery(organizationId), enabled: unread === null })
  if (unread !== null) return unread
  if (data !== undefined) {
    return data.some(({ archivedAt }) => archivedAt === null)
      ? null
      : 'You see no project yet. An owner can show you one.'
  }
  return error === null ? 'The projects are still being read.' : 'The projects could not be read. Load the page anew.'
}

/** Likewise its members. */
export function useMemberList(organizationId: string): readonly Member[] {
  const enabled = useReason(organizationId, 'members:read') === null && organizationId !== ''
  return useQuery({ ...membersQuery(organizationId), enabled }).data ?? []
}

/** Likewise its accounts of programs. */
export function useServiceAccounts(organizationId: string, isWanted = true): readonly ServiceAccount[] {
  const mayRead = useReason(organizationId, 'service-accounts:read') === null && organizationId !== ''
  return useQuery({ ...serviceAccountsQuery(organizationId), enabled: mayRead && isWanted }).data ?? []
}

/** The member or the program whose key it is; null for nobody's. */
export function ownerOf({ ownerId, serviceAccountId }: Pick<ApiKey, 'ownerId' | 'serviceAccountId'>): string | null {
  return serviceAccountId ?? ownerId
}

/** Likewise its own roles. */
export function useOwnRoles(organizationId: string): readonly OwnRole[] {
  const enabled = useReason(organizationId, 'roles:read') === null && organizationId !== ''
  return useQuery({ ...rolesQuery(organizationId), enabled }).data ?? []
}

/** What a member's role is called: by the organization's own name where it is a part of a built-in one. */
export function useRoleNames(organizationId: string): (member: Pick<Member, 'role' | 'roleId'>) => string {
  const own = new Map(useOwnRoles(organizationId).map(({ id, name }) => [id, name] as const))
  return ({ role, roleId }) => (roleId === null ? role : (own.get(roleId) ?? `a part of ${role}`))
}

type Named = { readonly id: string; readonly name: string }

/** What can have a name in the lists that `useNames` reads. */
const namedKinds = /^(?:key|proj|mem|svc)_/

/** Names for the ids that lists speak of. What cannot be read stays an id. */
export function useNames(organization: string | null): (id: string | null) => string {
  const organizationId = organization ?? ''
  const isOne = organization !== null
  const mayReadKeys = useReason(organizationId, 'api-keys:read') === null && isOne
  const mayReadMembers = useReason(organizationId, 'members:read') === null
  const mayReadProjects = useReason(organizationId, 'projects:read') === null && isOne
  const keys = useQuery({ ...keysQuery(organizationId), enabled: mayReadKeys })
  const own = useQuery({ ...playgroundKeysQuery(organizationId), enabled: mayReadKeys })
  const projects = useQuery({ ...projectsQuery(organizationId), enabled: mayReadProjects })
  const members = useQuery({ ...membersQuery(organizationId), enabled: mayReadMembers && isOne })
  const mayReadPrograms = useReason(organizationId, 'service-accounts:read') === null
  const hasPrograms = keys.data?.some(({ serviceAccountId }) => serviceAccountId !== null) ?? false
  const programs = useQuery({ ...serviceAccountsQuery(organizationId), enabled: mayReadPrograms && hasPrograms })
  const reader = useMembership(organizationId)
  const readerName = useSession()?.user.name
  const lists = [keys, own, projects, members, programs]
  const isReading = lists.some(({ isLoading }) => isLoading)
  const known = lists.flatMap(({ data = [] }): readonly Named[] => data)
  const names = new Map(known.map(({ id, name }) => [id, name]))
  if (reader !== null && readerName !== undefined) names.set(reader.memberId, readerName)
  const isMember = (id: string) => id.startsWith('mem_')
  return (id) => {
    if (id === null) return '–'
    // Who may not read the members is told that there is one, and not by an id that says nothing to them.
    const name = names.get(id)
    if (name !== undefined) return name
    if (isMember(id) && !mayReadMembers) return 'Another member'
    // An id that stood there for a moment would take the room of three names.
    return isReading && namedKinds.test(id) ? '…' : id
  }
}
