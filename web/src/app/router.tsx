import { useMemo, useSyncExternalStore } from 'react'
import { location } from '../lib/location.ts'
import type { SearchCodec } from '../lib/search-codec.ts'
import { findPage, type PageName } from './paths.ts'
import { routes, type PageComponent } from './route-table.ts'
import type { Inside } from './inside.tsx'

/** Pages that are here. They are kept, so that a second visit waits for nothing. */
const loaded = new Map<PageName, PageComponent>()

/** The shell and what reads data are of no use to who has not signed in, so the public pages come without them. */
const inside: { current: typeof Inside | null } = { current: null }

/** Fetches a page's part of the program; resolves at once where it is here. */
export async function loadPage(name: PageName): Promise<void> {
  await Promise.all([loadOwn(name), routes[name].needs === 'public' ? null : loadInside()])
}

async function loadOwn(name: PageName): Promise<void> {
  if (loaded.has(name)) return
  const { Page } = await routes[name].load()
  loaded.set(name, Page)
}

export async function loadInside(): Promise<void> {
  inside.current ??= (await import('./inside.tsx')).Inside
}

export function loadedInside(): typeof Inside | null {
  return inside.current
}

export function loadedPage(name: PageName): PageComponent | null {
  return loaded.get(name) ?? null
}

export function usePlace() {
  return useSyncExternalStore(location.subscribe, location.current)
}

/** The page's state in the address, and how it is changed; fields that are not given stay as they are. */
export function useSearch<State extends object>(codec: SearchCodec<State>) {
  const { search } = usePlace()
  const { state, unread } = useMemo(() => codec.read(search), [codec, search])
  const change = (changes: Partial<State>) => location.replaceSearch(codec.write({ ...state, ...changes }))
  return [state, change, unread] as const
}

/** Whether a page is on its way, which is shown when it takes longer than a moment. */
class Progress {
  #isShown = false
  readonly #listeners = new Set<() => void>()

  readonly current = (): boolean => this.#isShown

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  show(isShown: boolean): void {
    this.#isShown = isShown
    for (const listener of this.#listeners) listener()
  }
}

const progress = new Progress()
const momentMs = 100

export function useProgress(): boolean {
  return useSyncExternalStore(progress.subscribe, progress.current)
}

// Gets a page ready while the reader still sees the one before. It is said here and not by a component, because the
// first page may lead on to another one before any component has said anything.
location.prepareWith(async ({ path }) => {
  const timer = setTimeout(() => progress.show(true), momentMs)
  try {
    const page = findPage(path)
    await (page === null ? loadInside() : loadPage(page.name))
    return true
  } finally {
    clearTimeout(timer)
    if (progress.current()) progress.show(false)
  }
})
