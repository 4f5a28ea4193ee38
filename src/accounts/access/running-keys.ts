import type { Clock } from '../../lib/clock.ts'
import type { KeyAccess } from './key-access.ts'

export type EndReason = 'key-ended' | 'organization-disabled' | 'project-archived'

type Watcher = { readonly access: KeyAccess; readonly onEnd: (reason: EndReason) => void }

/** The keys of requests under way, so that these can be ended with them. */
export class RunningKeys {
  readonly #clock: Clock
  readonly #watchers = new Map<string, Set<Watcher>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  watch(access: KeyAccess, onEnd: Watcher['onEnd']): () => void {
    const { hash } = access
    const watcher = { access, onEnd }
    const watchers = this.#watchers.get(hash) ?? new Set()
    this.#watchers.set(hash, watchers.add(watcher))
    return () => {
      watchers.delete(watcher)
      if (watchers.size === 0 && this.#watchers.get(hash) === watchers) this.#watchers.delete(hash)
    }
  }

  hashes(): Iterable<string> {
    return this.#watchers.keys()
  }

  hasExpired({ expiresAtMs }: KeyAccess): boolean {
    return expiresAtMs !== null && expiresAtMs <= this.#clock.nowMs()
  }

  /** Ends what runs under a key that is no more. */
  end(hash: string, reason: EndReason = 'key-ended'): void {
    const watchers = this.#watchers.get(hash)
    this.#watchers.delete(hash)
    for (const { onEnd } of watchers ?? []) onEnd(reason)
  }

  /** Ends what runs under keys that have expired or belong to what was closed. */
  endOver(known: ReadonlyMap<string, KeyAccess>): void {
    for (const [hash, [first]] of this.#watchers) {
      const access = known.get(hash) ?? first?.access
      if (access === undefined) continue
      if (access.closed !== null) this.end(hash, access.closed)
      else if (this.hasExpired(access)) this.end(hash)
    }
  }
}
