import { ApiError } from '../core/error.ts'
import { GenerationAborted, zeroUsage, type Owner } from '../core/generation.ts'
import { FairQueue } from './fair-queue.ts'

/** Organizations whose texts are counted by turns in one process, a portion of each at a time. */
const organizationsAtOnce = 4

/** The most of one organization that wait; at a tenth of a second for each, the last one's turn comes after half a minute. */
const waitingMax = 256

type Waiting = { readonly owner: Owner; readonly begin: () => void }

/**
 * Decides whose tokens are counted next: one text of an organization at a time, by turns between organizations, between
 * the keys of each, and by the characters that they have had counted.
 */
export class CountTurns {
  readonly #queue = new FairQueue<Waiting>()
  readonly #busy = new Set<string>()
  readonly #waiting = new Map<string, number>()

  /** Waits for a turn. Returns what to call when the count is over. Rejects with a GenerationAborted when the signal fires. */
  async take(owner: Owner, characters: number, signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) throw new GenerationAborted(zeroUsage)
    const { organizationId } = owner
    const waiting = this.#waiting.get(organizationId) ?? 0
    if (waiting >= waitingMax) {
      const reason = { code: 'rate-limited', retryAfterMs: 5_000 } as const
      throw new ApiError(reason, 'Too many prompts of this organization wait to be counted.')
    }
    const turn = Promise.withResolvers<void>()
    const entry: Waiting = { owner, begin: turn.resolve }
    const leave = () => {
      this.#queue.remove(entry)
      turn.reject(new GenerationAborted(zeroUsage))
    }
    this.#waiting.set(organizationId, waiting + 1)
    signal.addEventListener('abort', leave, { once: true })
    this.#queue.push(entry)
    this.#next()
    try {
      await turn.promise
    } finally {
      this.#leave(organizationId)
      signal.removeEventListener('abort', leave)
    }
    this.#queue.charge(owner, characters)
    return () => this.#end(owner)
  }

  #leave(organizationId: string): void {
    const left = (this.#waiting.get(organizationId) ?? 1) - 1
    if (left === 0) this.#waiting.delete(organizationId)
    else this.#waiting.set(organizationId, left)
  }

  #end(owner: Owner): void {
    this.#busy.delete(owner.organizationId)
    this.#queue.end(owner)
    this.#next()
  }

  #next(): void {
    while (this.#busy.size < organizationsAtOnce) {
      const entry = this.#queue.take(({ organizationId }) => !this.#busy.has(organizationId))
      if (entry === null) return
      this.#busy.add(entry.owner.organizationId)
      entry.begin()
    }
  }
}
