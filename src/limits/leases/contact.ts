import type { Clock } from '../../lib/clock.ts'

/** Gateways that hold something renew it every second; one that was not heard for so long may have missed an outage. */
const breakMs = 5_000

/**
 * How long a gateway has been in touch with the database without a break.
 *
 * When the database was away, the leases of all gateways have run out, and those
 * of living ones are renewed as soon as it is back. Only who has been in touch
 * for some time can tell the leases of the dead from these.
 */
export class Contact {
  readonly #clock: Clock
  #sinceMs = Infinity
  #lastMs = -Infinity

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The database has answered what it was asked at that time. */
  answered(askedMs: number): void {
    const nowMs = this.#clock.monotonicMs()
    if (this.#isBroken(askedMs)) this.#sinceMs = nowMs
    this.#lastMs = nowMs
  }

  lost(): void {
    this.#lastMs = -Infinity
  }

  /** For how long, as seen by one who asked at that time and is being answered. */
  lastsMs(askedMs: number): number {
    return this.#isBroken(askedMs) ? 0 : this.#clock.monotonicMs() - this.#sinceMs
  }

  #isBroken(askedMs: number): boolean {
    return askedMs - this.#lastMs > breakMs || this.#clock.monotonicMs() - askedMs > breakMs
  }
}
