import { ApiError } from '../../core/error.ts'
import type { Clock } from '../../lib/clock.ts'

export type ReadyState = 'loading' | 'ready' | 'down' | 'stopped'

/** Where requests wait for a child that can take work. */
export class ReadyGate {
  readonly #clock: Clock
  readonly #state: () => ReadyState
  readonly #waitMsMax: number
  readonly #waiters = new Set<() => void>()

  constructor(clock: Clock, waitMsMax: number, state: () => ReadyState) {
    this.#clock = clock
    this.#waitMsMax = waitMsMax
    this.#state = state
  }

  /** Resolves when the child is ready or the signal fires. A child that keeps failing is refused at once. */
  async pass(signal: AbortSignal, waitMsMax = this.#waitMsMax): Promise<void> {
    const deadlineMs = this.#clock.monotonicMs() + waitMsMax
    while (this.#state() !== 'ready' && !signal.aborted) {
      const waitMs = deadlineMs - this.#clock.monotonicMs()
      if (this.#state() !== 'loading' || waitMs <= 0) throw notReady()
      await this.#changeOfState(waitMs, signal)
    }
  }

  /** The child's state has changed. */
  wake(): void {
    for (const wake of this.#waiters) wake()
  }

  #changeOfState(waitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        cancel()
        signal.removeEventListener('abort', done)
        this.#waiters.delete(done)
        resolve()
      }
      const cancel = this.#clock.after(waitMs, done)
      signal.addEventListener('abort', done, { once: true })
      this.#waiters.add(done)
    })
  }
}

export function notReady(): ApiError {
  return new ApiError(
    { code: 'overloaded', retryAfterMs: 5_000 },
    'The model is not ready yet. Please try again shortly.',
  )
}
