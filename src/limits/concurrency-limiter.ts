import { ApiError } from '../core/error.ts'
import type { ApiKeyId } from '../core/ids.ts'
import type { ApiKeyPrincipal } from '../core/principal.ts'

/** A place taken; giving it back twice counts once. */
export type Reservation = { release(): void }

export interface ConcurrencyLimiter {
  /** Throws `rate-limited` when the key has no place left. */
  reserve(principal: ApiKeyPrincipal): Reservation
}

/** Limits how many requests of one key are under way; null does not limit them. */
export function createConcurrencyLimiter(requestsPerKeyMax: number | null): ConcurrencyLimiter {
  const underWay = new Map<ApiKeyId, number>()
  return {
    reserve({ apiKeyId }) {
      const count = underWay.get(apiKeyId) ?? 0
      if (requestsPerKeyMax !== null && count >= requestsPerKeyMax) {
        const message = `This key already has ${count} requests under way, which is its limit. Please retry when one has ended.`
        throw new ApiError({ code: 'rate-limited', retryAfterMs: 1_000 }, message)
      }
      underWay.set(apiKeyId, count + 1)
      let isHeld = true
      return {
        release() {
          if (!isHeld) return
          isHeld = false
          const left = (underWay.get(apiKeyId) ?? 1) - 1
          if (left === 0) underWay.delete(apiKeyId)
          else underWay.set(apiKeyId, left)
        },
      }
    },
  }
}
