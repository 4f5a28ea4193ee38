import { networkOf } from '../../lib/address-list.ts'
import { pause, type Clock } from '../../lib/clock.ts'

/** The refusals that are answered at once, and how far apart the following ones are: 20 a minute, and 200 a minute in all. */
const perNetwork: Pace = { atOnce: 20, intervalMs: 3_000 }
const inAll: Pace = { atOnce: 200, intervalMs: 300 }
/** No refusal is held back longer, so that somebody who mistyped a key hears of it before the client gives up. */
const pauseMsMax = 10_000
/** About 100 bytes each. */
const networksMax = 10_000

type Pace = { readonly atOnce: number; readonly intervalMs: number }

/**
 * Holds back the refusals of wrong keys when there are many from one network, or many in all.
 *
 * The generic cell rate algorithm: of each network only the time is kept at
 * which it would be even with its pace. Right keys are never held back, since
 * whoever shares a proxy with a guesser would be locked out.
 */
export class FailedAttempts {
  readonly #clock: Clock
  /** By network, in the order of the last attempt. */
  readonly #evenMs = new Map<string, number>()
  #allEvenMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts a wrong key, and resolves when its refusal may be answered. */
  async hold(address: string): Promise<void> {
    const network = networkOf(address)
    const nowMs = this.#clock.monotonicMs()
    const evenMs = advance(perNetwork, this.#evenMs.get(network) ?? 0, nowMs)
    this.#remember(network, evenMs)
    this.#allEvenMs = advance(inAll, this.#allEvenMs, nowMs)
    const waitMs = Math.max(waitOf(perNetwork, evenMs, nowMs), waitOf(inAll, this.#allEvenMs, nowMs))
    if (waitMs > 0) await pause(this.#clock, waitMs)
  }

  /** How many networks are remembered. */
  get size(): number {
    return this.#evenMs.size
  }

  #remember(network: string, evenMs: number): void {
    this.#evenMs.delete(network)
    const oldest = this.#evenMs.keys().next()
    if (this.#evenMs.size >= networksMax && oldest.done !== true) this.#evenMs.delete(oldest.value)
    this.#evenMs.set(network, evenMs)
  }
}

/** One attempt more; a flood of them is forgotten as soon as its longest pause is over. */
function advance({ atOnce, intervalMs }: Pace, evenMs: number, nowMs: number): number {
  return Math.min(Math.max(evenMs, nowMs) + intervalMs, nowMs + atOnce * intervalMs + pauseMsMax)
}

function waitOf({ atOnce, intervalMs }: Pace, evenMs: number, nowMs: number): number {
  return Math.max(0, evenMs - nowMs - atOnce * intervalMs)
}
