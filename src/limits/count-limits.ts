import type { LimitState } from '../core/limit.ts'
import type { ApiKeyPrincipal } from '../core/principal.ts'
import type { Clock } from '../lib/clock.ts'
import type { Allowance } from './allowances/allowance.ts'
import { createFixedAllowance, type FixedAllowance } from './allowances/fixed-allowance.ts'
import { takeAtOnce } from './allowances/take-together.ts'
import { createBucketAllowance } from './allowances/token-bucket.ts'
import { rateLimited, type LimitClaim } from './refuse.ts'

export type CountLimitValues = {
  /** Counts of one key in a minute; null does not limit them. */
  readonly perKeyMinuteMax: number | null
  /** Counts that one key may have under way, waiting ones included; null does not limit them. */
  readonly concurrentPerKeyMax: number | null
}

type KeyAllowances = { readonly requests: Allowance | null; readonly places: FixedAllowance | null }

/** Above this many keys, those whose allowances are whole again are forgotten. */
const keysKept = 1_000

/**
 * The limits of counting tokens, which every key has by itself, in each process by itself.
 *
 * A count is no generation: it takes nothing of the limits and budgets of these, and what is counted for nothing has
 * limits of its own.
 */
export class CountLimits {
  readonly #clock: Clock
  readonly #values: CountLimitValues
  readonly #keys = new Map<string, KeyAllowances>()

  constructor(clock: Clock, values: CountLimitValues) {
    this.#clock = clock
    this.#values = values
  }

  /** Takes a count and a place. Returns what to call when it is over; throws `rate-limited` where there is none. */
  enter(principal: ApiKeyPrincipal): () => void {
    const { requests, places } = this.#of(principal)
    const claims: LimitClaim[] = []
    if (requests !== null) claims.push({ kind: 'requests', allowance: requests, amount: 1 })
    if (places !== null) claims.push({ kind: 'concurrency', allowance: places, amount: 1 })
    const short = takeAtOnce(claims)
    if (short.length > 0) throw rateLimited(short, '*')
    let isOver = false
    return () => {
      if (!isOver) places?.settle(1, 0)
      isOver = true
    }
  }

  /** How many counts the key has left; null where they are not limited. */
  stateOf(principal: ApiKeyPrincipal): LimitState | null {
    const { requests } = this.#of(principal)
    if (requests === null) return null
    const { limit } = requests
    return { limit, remaining: requests.remaining(), fullInMs: requests.waitMs(limit) ?? 0 }
  }

  /** A key that replaced another goes on under the first one's limits. */
  #of({ apiKeyId, quotaId }: ApiKeyPrincipal): KeyAllowances {
    const key = quotaId ?? apiKeyId
    const known = this.#keys.get(key)
    if (known !== undefined) return known
    if (this.#keys.size >= keysKept) this.#forgetWhole()
    const { perKeyMinuteMax, concurrentPerKeyMax } = this.#values
    const made = {
      requests: perKeyMinuteMax === null ? null : createBucketAllowance(perKeyMinuteMax, this.#clock),
      places: concurrentPerKeyMax === null ? null : createFixedAllowance(concurrentPerKeyMax),
    }
    this.#keys.set(key, made)
    return made
  }

  #forgetWhole(): void {
    for (const [key, { requests, places }] of this.#keys) {
      const isWhole = requests === null || requests.free() === requests.limit
      if (isWhole && (places?.reserved ?? 0) === 0) this.#keys.delete(key)
    }
  }
}
