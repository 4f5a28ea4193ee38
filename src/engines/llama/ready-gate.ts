import { ApiError } from '../../core/error.ts'
import type { Clock } from '../../lib/clock.ts'

export type ReadyState = 'loading' | 'ready' | 'asleep' | 'down' | 'stopped'

export type ReadyGateOptions = {
  readonly clock: Clock
  readonly waitMsMax: number
  state(): ReadyState
  /** When the child may be ready; null where nobody can tell. */
  readyInMs(): number | null
  /** What keeps it from loading and will not pass by itself; null where nothing is known to. */
  fault?(): string | null
}

/** Where requests wait for a child that can take work. */
export class ReadyGate {
  readonly #options: ReadyGateOptions
  readonly #waiters = new Set<() => void>()

  constructor(options: ReadyGateOptions) {
    this.#options = options
  }

  /**
   * Resolves when the child is ready or the signal fires. Who would have to wait for too long is told at once for how
   * long; so is everybody while a child keeps failing.
   */
  async pass(signal: AbortSignal, waitMsMax = this.#options.waitMsMax): Promise<void> {
    const { clock, state, readyInMs } = this.#options
    const deadlineMs = clock.monotonicMs() + waitMsMax
    while (state() !== 'ready' && !signal.aborted) {
      const waitMs = deadlineMs - clock.monotonicMs()
      const neededMs = readyInMs()
      const fault = this.#options.fault?.() ?? null
      const isTooLong = state() !== 'loading' || waitMs <= 0 || (neededMs ?? 0) > waitMs
      if (isTooLong || fault !== null) throw notReady(neededMs, fault)
      await this.#changeOfState(Math.min(waitMs, lookAgainMs), signal)
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
      const cancel = this.#options.clock.after(waitMs, done)
      signal.addEventListener('abort', done, { once: true })
      this.#waiters.add(done)
    })
  }
}

/** Loading can turn out slower than it began. */
const lookAgainMs = 5_000
/** Where nobody can tell how long it will take. */
const retryAfterMsDefault = 5_000
const retryAfterMsLeast = 1_000

export function notReady(readyInMs: number | null = null, fault: string | null = null): ApiError {
  const retryAfterMs = Math.max(retryAfterMsLeast, readyInMs ?? retryAfterMsDefault)
  const message =
    fault === null ? 'The model is not ready yet. Please try again shortly.' : `The model cannot be loaded. ${fault}`
  return new ApiError({ code: 'overloaded', retryAfterMs }, message)
}
