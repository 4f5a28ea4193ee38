// Token bucket: what a limit per minute is counted in.

import type { Clock } from '../../lib/clock.ts'
import type { Allowance } from './allowance.ts'

/** A level is counted in so many parts of a token: one millisecond refills a whole number of them, whatever the limit. */
const partsPerToken = 60_000

/**
 * A token bucket that holds one minute's allowance and refills continuously.
 *
 * Every number is a whole one, so nothing is ever rounded away and the level
 * cannot drift. Time is the caller's monotonic clock; whatever part of a
 * millisecond has passed counts when it is over.
 */
export class TokenBucket {
  #limit: number
  /** In parts; below zero when more was used than had been reserved. */
  #level: number
  #atMs: number

  constructor(limit: number, nowMs: number) {
    this.#limit = limit
    this.#level = limit * partsPerToken
    this.#atMs = Math.floor(nowMs)
  }

  get limit(): number {
    return this.#limit
  }

  /** Whole tokens that can be taken now. */
  free(nowMs: number): number {
    this.#refill(nowMs)
    return Math.max(0, Math.floor(this.#level / partsPerToken))
  }

  /** Takes tokens. The caller has looked whether they are free; if they are not, later ones pay for it. */
  take(amount: number, nowMs: number): void {
    this.#refill(nowMs)
    this.#level -= amount * partsPerToken
  }

  /** Puts tokens back; what does not fit any more has been refilled meanwhile. */
  give(amount: number, nowMs: number): void {
    this.#refill(nowMs)
    this.#level = Math.min(this.#capacity, this.#level + amount * partsPerToken)
  }

  /** How long until so many tokens are free; never for more than the bucket holds. */
  waitMs(amount: number, nowMs: number): number {
    if (amount > this.#limit) return Infinity
    this.#refill(nowMs)
    const missing = amount * partsPerToken - this.#level
    if (missing <= 0) return 0
    // The millisecond under way has begun already, and counts in full when it is over.
    return Math.max(0, Math.ceil(missing / this.#limit) - (nowMs - this.#atMs))
  }

  /** Changes the limit at once, in favour of whoever has used little and of whoever waits. */
  resize(limit: number, nowMs: number): void {
    this.#refill(nowMs)
    const used = this.#capacity - this.#level
    this.#limit = limit
    this.#level = Math.max(this.#capacity - used, Math.min(this.#level, this.#capacity))
  }

  get #capacity(): number {
    return this.#limit * partsPerToken
  }

  #refill(nowMs: number): void {
    const elapsedMs = Math.floor(nowMs) - this.#atMs
    if (elapsedMs <= 0) return
    this.#atMs += elapsedMs
    const missing = this.#capacity - this.#level
    this.#level = elapsedMs >= Math.ceil(missing / this.#limit) ? this.#capacity : this.#level + elapsedMs * this.#limit
  }
}

/** A token bucket in memory, as an allowance of so much a minute. */
export function createBucketAllowance(limit: number, clock: Clock): Allowance {
  const bucket = new TokenBucket(limit, clock.monotonicMs())
  const now = () => clock.monotonicMs()
  return {
    get limit() {
      return bucket.limit
    },
    returnsAtOnce: true,
    lagMs: 0,
    free: () => bucket.free(now()),
    remaining: () => bucket.free(now()),
    left: () => bucket.limit,
    take: (amount) => bucket.take(amount, now()),
    settle(taken, used) {
      if (used > taken) bucket.take(used - taken, now())
      else bucket.give(taken - used, now())
    },
    replenish: () => Promise.resolve(),
    returned: () => null,
    giveBackUntaken() {},
    waitMs: (amount) => bucket.waitMs(amount, now()),
    resize: (changed) => bucket.resize(changed, now()),
    close: () => Promise.resolve(),
  }
}
