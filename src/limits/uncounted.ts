/**
 * Requests that have reserved for the longest their prompts can be, and know in a moment how long they are.
 *
 * Until then they hold more than they need, and nobody may be refused for that.
 */
export class Uncounted {
  readonly #moments = new Set<Promise<void>>()

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
    await Promise.all(this.#moments)
    return true
  }
}
