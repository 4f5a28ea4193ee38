import type { Allowance } from './allowances/allowance.ts'
import type { LimitClaim } from './refuse.ts'

/** The places of a request whose body is not read yet. Its admission takes them over; if there is none, it leaves them. */
export class Entrance {
  #places: readonly LimitClaim[]

  constructor(places: readonly LimitClaim[]) {
    this.#places = places
  }

  has(allowance: Allowance): boolean {
    return this.#places.some((place) => place.allowance === allowance)
  }

  /** Whoever gets them gives them back. */
  handOver(): readonly LimitClaim[] {
    const places = this.#places
    this.#places = []
    return places
  }

  /** Changes nothing once they are handed over. */
  leave(): void {
    for (const { allowance, amount } of this.handOver()) allowance.settle(amount, 0)
  }
}
