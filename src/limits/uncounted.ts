import type { Clock } from '../lib/clock.ts'
import { inTime } from '../lib/in-time.ts'

/** Counting a short prompt takes milliseconds; an engine that has stopped keeps nobody waiting longer than this. */
const patienceMs = 1_000

/**
 * Requests that have reserved for the longest their prompts can be, and know in a moment how long they are.
 *
 * Until then they hold more than they need, and nobody may be refused for that.
 */
export class Uncounted {
  readonly #clock: Clock
  readonly #moments = new Set<Promise<void>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns what to call when the prompt is counted, or the request over. */
  enter(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#moments.add(promise)
    return () => {
      this.#moments.delete(promise)
      resolve()
    }
  }

  /** Waits until all that are uncounted now have been counted. False where there are none. */
  async settled(): Promise<boolean> {
    if (this.#moments.size === 0) return false
    await inTime(this.#clock, patienceMs, Promise.all(this.#moments)).catch(() => {})
    return true
  }
}
