import type { Clock } from '../../lib/clock.ts'
import { TokenBucket } from '../token-bucket.ts'
import type { Allowance } from './allowance.ts'

/** So much a minute, kept in memory. */
export function createBucketAllowance(limit: number, clock: Clock): Allowance {
  const bucket = new TokenBucket(limit, clock.monotonicMs())
  const now = () => clock.monotonicMs()
  return {
    get limit() {
      return bucket.limit
    },
    returnsAtOnce: true,
    free: () => bucket.free(now()),
    remaining: () => bucket.free(now()),
    left: () => bucket.limit,
    take: (amount) => bucket.take(amount, now()),
    settle(taken, used) {
      if (used > taken) bucket.take(used - taken, now())
      else bucket.give(taken - used, now())
    },
    replenish: () => Promise.resolve(),
    waitMs: (amount) => bucket.waitMs(amount, now()),
    resize: (changed) => bucket.resize(changed, now()),
    close: () => Promise.resolve(),
  }
}
