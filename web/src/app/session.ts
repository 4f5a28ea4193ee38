import { QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import { api, askToSignIn } from '../api/client.ts'
import type { Membership, Session } from '../api/answers.ts'
import { readSession, takeEarly } from './early-session.ts'
import { onSignedIn } from './sign-in-news.ts'
import { isOfInstallation, type PageName } from './paths.ts'
import type { Role } from './roles.ts'
import { routes } from './route-table.ts'
import { Problem, toProblem } from '../api/problem.ts'
import { unsavedForms } from '../lib/unsaved-forms.ts'

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Odyssey is often on the same machine or network, which a browser without a way to the internet still reaches.
      networkMode: 'always',
      staleTime: 15_000,
      // A refusal stays one; what does not answer at the moment may a little later.
      retry: (failures, error) => toProblem(error).isPassing && failures < 3,
      retryDelay: (attempt) => Math.min(8_000, 500 * 2 ** attempt) * (0.75 + Math.random() / 2),
      throwOnError: false,
    },
    mutations: { retry: false },
  },
})

const sessionKey = ['session']

/** Who has signed in and what they may; null for nobody. */
export const sessionQuery = queryOptions({
  queryKey: sessionKey,
  async queryFn({ signal }): Promise<Session | null> {
    const known = queryClient.getQueryData<Session | null>(sessionKey) ?? null
    const found = await (takeEarly() ?? readSession(signal))
    if (known === null) return found
    // A session that has ended leaves what was typed where it is: the way back in stands over the page.
    const next = found ?? ((await askToSignIn()) ? await readSession(signal) : null)
    return next === null || next.user.id === known.user.id ? (next ?? known) : beginAnew()
  },
  staleTime: 60_000,
})

/** Of what one person was shown nothing is left for another who has signed in in the same browser. */
function beginAnew(): Promise<never> {
  queryClient.clear()
  unsavedForms.forget()
  window.location.reload()
  return new Promise(() => {})
}

onSignedIn(() => queryClient.resetQueries({ queryKey: sessionKey }))

export function useSession(): Session | null {
  return useQuery(sessionQuery).data ?? null
}

/** The reader's place in an organization; null where they have none. */
export function useMembership(organizationId: string): Membership | null {
  return useSession()?.memberships.find((membership) => membership.organizationId === organizationId) ?? null
}

/** Tells why a member may not do something, by name of who may; null where they may. Installation-wide rights count as well. */
export function useReason(organizationId: string | null, permission: string): string | null {
  return reasonOf(useSession(), organizationId, permission)
}

/**
 * The permissions by which the reader does something, with how far each reaches. As in the service, they act as a member
 * where that lets them do it, and otherwise by their role in the installation.
 */
export function useRights(organizationId: string, permission: string): Membership['permissions'] {
  const membership = useMembership(organizationId)?.permissions ?? {}
  const inInstallation = useSession()?.installation?.permissions ?? {}
  return membership[permission] === undefined ? inInstallation : membership
}

/** What is said of a role that is not the reader's to give. */
export const beyond = 'may do more than you'

/**
 * Tells why somebody may not give a role, or take it from whoever has it; null where they may. They act by the permission
 * as with `useRights`; without an organization it is a role in the installation.
 */
export function useGrantReason(organizationId: string | null, permission: string): (role: Role) => string | null {
  const membership = useMembership(organizationId ?? '')
  const installation = useSession()?.installation
  const actsAsMember = membership?.permissions[permission] !== undefined
  const given = (actsAsMember ? membership.gives : installation?.gives) ?? []
  return (role) => (given.includes(role) ? null : beyond)
}

export function reasonOf(session: Session | null, organizationId: string | null, permission: string): string | null {
  if (session === null) return 'You are not signed in.'
  if (session.installation?.permissions[permission] !== undefined) return null
  const membership = session.memberships.find((one) => one.organizationId === organizationId)
  if (membership?.permissions[permission] !== undefined) return null
  if (organizationId === null) return `You need ${permission}, which is for whoever runs the installation.`
  const owners = membership?.owners.map(({ name }) => name).join(', ') ?? ''
  return `You need ${permission}.${owners === '' ? '' : ` Owners have it: ${owners}.`}`
}

/** Why somebody may not see a page; null where they may. */
export function pageReason(session: Session, organizationId: string | null, name: PageName): string | null {
  const { needs } = routes[name]
  return needs === null ? null : reasonOf(session, isOfInstallation(name) ? null : organizationId, needs)
}

const channel = 'BroadcastChannel' in window ? new BroadcastChannel('odyssey-session') : null

/**
 * Ends the session here and in every other tab, and goes on to the provider where it signs out too. The page is loaded
 * anew, so that nothing of it is left to go back to. Throws where the session is not known to have ended.
 */
export async function signOut(): Promise<void> {
  const answer = await api('POST /api/v1/session/sign-out', {}).catch((error: unknown) => {
    if (error instanceof Problem && error.status === 401) return null
    throw error
  })
  channel?.postMessage('over')
  leave(answer?.location ?? '/login')
}

export function watchOtherTabs(): void {
  channel?.addEventListener('message', ({ data }) => {
    if (data === 'over') leave()
  })
}

/** Says to the other tabs that somebody has signed in again in this one. */
export function tellSignedInAgain(): void {
  channel?.postMessage('again')
}

/** Hears of another tab that somebody has signed in again there, until the answer is called. */
export function onSignedInAgain(hear: () => void): () => void {
  const listen = ({ data }: MessageEvent) => (data === 'again' ? hear() : undefined)
  channel?.addEventListener('message', listen)
  return () => channel?.removeEventListener('message', listen)
}

function leave(to = '/login'): void {
  queryClient.clear()
  // Nobody may be kept on a page that is no longer theirs.
  unsavedForms.forget()
  window.location.replace(to)
}
