// One stream of changes for all tabs of a browser, which over plain HTTP has six connections to a host. The tab that
// holds the lock reads it and passes on what it hears; when it is closed, the next one in the queue takes over.

import { useSyncExternalStore } from 'react'
import { readEvents } from '../lib/wire.ts'
import { queryClient } from './session.ts'

type Changed = { readonly organizationId: string | null; readonly topics: readonly string[] }
/** What tabs tell each other: what has changed, that all may have, or whether the stream is there. */
type Told = { readonly changed: Changed } | 'all' | { readonly isLive: boolean } | 'is it live?'

/** The beginnings of the keys of what is read, for each topic that makes it stale. */
const staleBy: Readonly<Record<string, readonly string[]>> = {
  access: [
    'keys',
    'key',
    'members',
    'member',
    'roles',
    'service-accounts',
    'projects',
    'session',
    'management-keys',
    'connections',
    'domains',
    'directories',
    'directory-groups',
    'directory-mappings',
    'invitations',
    'sessions',
    'organizations',
    'installation-members',
    'tasks',
  ],
  limits: ['limits', 'budgets', 'tiers', 'limit-requests', 'tasks'],
  prices: ['prices'],
  requests: ['ledger', 'overview', 'usage', 'budgets', 'alerts', 'keys'],
}
/** What stands still while it is looked at, and is read anew when its page is shown the next time. */
const quietBy: Readonly<Record<string, readonly string[]>> = { requests: ['ledger-as-read'] }
/** The same is read again no sooner than this. */
const calmMs = 1_000
/** Lists are read in pages of so many. */
const rowsPerPage = 200
/** What comes each second while there is any. */
const traffic = 'requests'
/** After the stream has broken off. */
const retryMs = 2_000
/** Without a stream what is shown is read again this often. */
const withoutStreamMs = 15_000

class Live {
  #isLive = false
  #hasBegun = false
  readonly #listeners = new Set<() => void>()
  /** When each kind was read last, or will be, since the program began. */
  readonly #readMs = new Map<string, number>()
  readonly #channel = 'BroadcastChannel' in window ? new BroadcastChannel('odyssey-events') : null

  readonly current = (): boolean => this.#isLive

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Once somebody has signed in. */
  begin(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    const defaults = queryClient.getDefaultOptions()
    const refetchInterval = () => (this.#isLive ? false : withoutStreamMs)
    queryClient.setDefaultOptions({ ...defaults, queries: { ...defaults.queries, refetchInterval } })
    this.#channel?.addEventListener('message', ({ data }) => this.#hear(data as Told))
    this.#channel?.postMessage('is it live?' satisfies Told)
    this.resume()
  }

  #isLeader = false
  /** Whether this tab reads the stream, or waits for its turn. */
  #isInQueue = false

  /** Once somebody has signed in again: the tabs that were refused the stream have left the queue for it. */
  resume(): void {
    if (!this.#hasBegun || this.#isInQueue) return
    this.#isInQueue = true
    // Where there are no locks, as at plain addresses of other machines, every tab has a stream of its own.
    if ('locks' in navigator) void navigator.locks.request('odyssey-events', () => this.#lead())
    else void this.#lead()
  }

  async #lead(): Promise<void> {
    this.#isLeader = true
    for (;;) {
      const isSignedIn = await this.#read().catch(() => true)
      this.#tell({ isLive: false })
      if (!isSignedIn) break
      await new Promise((resolve) => setTimeout(resolve, retryMs))
    }
    this.#isLeader = false
    this.#isInQueue = false
  }

  /** Reads one stream to its end; resolves with whether it is worth while to begin another. */
  async #read(): Promise<boolean> {
    const response = await fetch('/api/v1/events', {
      credentials: 'same-origin',
      headers: { accept: 'text/event-stream', 'x-odyssey-background': '1' },
    })
    if (!response.ok || response.body === null) {
      // A body that nobody reads keeps its connection, of which there are six.
      await response.body?.cancel()
      return response.status !== 401
    }
    this.#tell({ isLive: true })
    for await (const { name, text } of readEvents(response.body)) {
      this.#tell(name === 'begin' ? 'all' : { changed: JSON.parse(text) as Changed })
    }
    return true
  }

  #tell(told: Told): void {
    this.#channel?.postMessage(told)
    this.#hear(told)
  }

  #hear(told: Told): void {
    if (told === 'is it live?') {
      if (this.#isLeader && this.#isLive) this.#channel?.postMessage({ isLive: true } satisfies Told)
    } else if (told === 'all') void queryClient.invalidateQueries()
    else if ('isLive' in told) this.#setLive(told.isLive)
    else this.#mark(told.changed)
  }

  #setLive(isLive: boolean): void {
    if (isLive === this.#isLive) return
    this.#isLive = isLive
    // What is shown is read at once, and from then on by the clock.
    if (!isLive) void queryClient.invalidateQueries()
    for (const listener of this.#listeners) listener()
  }

  #mark({ organizationId, topics }: Changed): void {
    const urgent = new Set(topics.filter((topic) => topic !== traffic).flatMap((topic) => staleBy[topic] ?? []))
    for (const kind of new Set(topics.flatMap((topic) => staleBy[topic] ?? []))) {
      this.#readAgain(kind, organizationId, !urgent.has(kind))
    }
    for (const kind of topics.flatMap((topic) => quietBy[topic] ?? [])) {
      const queryKey = organizationId === null ? [kind] : [kind, organizationId]
      void queryClient.invalidateQueries({ queryKey, refetchType: 'none' })
    }
  }

  /**
   * Reads again what is shown of a kind: at once, or when the last time is long enough ago.
   *
   * Requests change what is said of each key every second. A list of many is read again the less often for it the longer
   * it is, so that it takes a page a second at most; what somebody has changed is shown as soon as ever.
   */
  #readAgain(kind: string, organizationId: string | null, isTraffic: boolean): void {
    const queryKey = organizationId === null ? [kind] : [kind, organizationId]
    const name = queryKey.join(' ')
    const now = Date.now()
    const readMs = this.#readMs.get(name) ?? 0
    const calm = isTraffic ? calmMs * pagesOf(queryKey) : calmMs
    const dueMs = Math.max(now, (readMs > now ? now : readMs) + calm)
    if (readMs > now && readMs <= dueMs) return
    this.#readMs.set(name, dueMs)
    setTimeout(() => {
      // One that was to come later is overtaken by what could not wait for it.
      if ((this.#readMs.get(name) ?? 0) >= dueMs) void queryClient.invalidateQueries({ queryKey })
    }, dueMs - now)
  }
}

/** How many pages it takes to read again what is shown of a kind. */
function pagesOf(queryKey: readonly string[]): number {
  const shown = queryClient.getQueryCache().findAll({ queryKey, type: 'active' })
  const pages = shown.map(({ state: { data } }) => (Array.isArray(data) ? Math.ceil(data.length / rowsPerPage) : 1))
  return Math.max(
    1,
    pages.reduce((sum, count) => sum + count, 0),
  )
}

export const live = new Live()

export function useLive(): boolean {
  return useSyncExternalStore(live.subscribe, live.current)
}
