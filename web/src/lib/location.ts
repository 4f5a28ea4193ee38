import type { LayerHistory } from './layer-history.ts'

/** What is in the address bar, as far as pages go by it. */
export type PageAddress = { readonly path: string; readonly search: string }

/** Makes ready what a place needs before it is shown; false leaves the reader where they are. */
type Prepare = (place: PageAddress) => Promise<boolean>

/** Routes of the History API: where the reader is, and how to get elsewhere. */
class Location {
  #place: PageAddress = read()
  #prepare: Prepare = () => Promise.resolve(true)
  #guard = () => true
  readonly #listeners = new Set<() => void>()
  #layers: LayerHistory | null = null
  /** Counted up by each move, so that one which was overtaken ends. */
  #moves = 0
  /** Whether a place is shown that is not in the history yet. */
  #isUnwritten = false

  constructor() {
    window.addEventListener('popstate', () => {
      if (this.#layers?.takesBack(this.#place)) return
      const place = read()
      if (this.#mayLeaveFor(place)) void this.#arrive(place)
      // The browser has gone already, so the page that is still shown follows as a step of its own.
      else history.pushState(null, '', this.#place.path + this.#place.search)
    })
  }

  readonly current = (): PageAddress => this.#place

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Asked before each change of page. */
  prepareWith(prepare: Prepare): void {
    this.#prepare = prepare
  }

  /** Asked whether a page with unsaved fields may be left. */
  guardWith(guard: () => boolean): void {
    this.#guard = guard
  }

  /** Warms up what a link leads to, which the reader is about to follow. */
  warm(href: string): void {
    void this.#prepare(parse(href)).catch(() => {})
  }

  async go(href: string, { replace = false }: { readonly replace?: boolean } = {}): Promise<void> {
    const place = parse(href)
    if (!this.#mayLeaveFor(place)) return
    if (!(await this.#arrive(place, { isUnwritten: true }))) return
    try {
      await this.#layers?.settled()
      const method = replace ? 'replaceState' : 'pushState'
      // A page may say more in its address as soon as it is shown.
      const { search } = this.#place.path === place.path ? this.#place : place
      history[method](null, '', place.path + search)
    } finally {
      this.#isUnwritten = false
    }
  }

  /** Changes what is said after the question mark; the page stays. */
  replaceSearch(search: string): void {
    if (search === this.#place.search) return
    // What stands in the history until then is the page before.
    if (!this.#isUnwritten) history.replaceState(history.state, '', this.#place.path + search)
    this.#place = { ...this.#place, search }
    this.#tell()
  }

  /** Asked first whether a way back means what is open before the page. */
  keepLayersIn(layers: LayerHistory): void {
    this.#layers = layers
  }

  #mayLeaveFor({ path }: PageAddress): boolean {
    return path === this.#place.path || this.#guard()
  }

  async #arrive(place: PageAddress, { isUnwritten = false } = {}): Promise<boolean> {
    this.#moves += 1
    const move = this.#moves
    const isReady = await this.#prepare(place).catch(() => loadAnew(place))
    if (!isReady || move !== this.#moves) return false
    this.#place = place
    this.#isUnwritten = isUnwritten
    this.#tell()
    return true
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}

function read(): PageAddress {
  return { path: window.location.pathname, search: window.location.search }
}

function parse(href: string): PageAddress {
  const { pathname, search } = new URL(href, window.location.href)
  return { path: pathname, search }
}

const loadedAnew = 'odyssey-loaded-anew'
/** A place whose part is missing again this soon would miss it for ever. */
const loadedAnewGuardMs = 10_000

/**
 * A part of the program that is not to be had belongs to a build that is gone: loading the place anew finds the one in
 * its stead. Where nothing answers at all the reader stays with what they see.
 */
export async function loadAnew({ path, search }: PageAddress): Promise<false> {
  const isAnswered = await fetch('/healthz').then(
    () => true,
    () => false,
  )
  const [at, of] = sessionStorage.getItem(loadedAnew)?.split(' ') ?? []
  const isRecent = of === path && Date.now() - Number(at) < loadedAnewGuardMs
  if (!isAnswered || isRecent) return false
  sessionStorage.setItem(loadedAnew, `${Date.now()} ${path}`)
  window.location.assign(path + search)
  return false
}

export const location = new Location()
