import { ApiError } from '../core/error.ts'
import type { Claim } from './allowances/allowance.ts'
import type { LimitKind } from '../core/limit-fields.ts'

export type LimitClaim = Claim & { readonly kind: LimitKind }

/** Places become free when a request ends, which nobody can foretell. */
const placeWaitMs = 1_000

/** The refusal of what did not fit, with the exact time until it will. */
export function rateLimited(short: readonly LimitClaim[], model: string): ApiError {
  const waits = short.map((claim) => ({ claim, waitMs: claim.allowance.waitMs(claim.amount) ?? placeWaitMs }))
  const longest = waits.reduce((most, other) => (other.waitMs > most.waitMs ? other : most))
  const { kind, allowance, amount } = longest.claim
  // More may have come in the meantime; whoever is refused has to wait nevertheless.
  const retryAfterMs = Math.max(1, longest.waitMs)
  if (kind === 'concurrency') {
    const message = `The limit of requests under way, ${allowance.limit}, is reached. Please retry when one has ended.`
    return new ApiError({ code: 'rate-limited', retryAfterMs: placeWaitMs }, message)
  }
  const exceeded = { kind, model, limit: allowance.limit, remaining: allowance.remaining(), requested: amount }
  return new ApiError({ code: 'rate-limited', retryAfterMs, exceeded }, 'A rate limit was reached.')
}
