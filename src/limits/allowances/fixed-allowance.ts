import type { RequestId } from '../../core/ids.ts'
import type { Allowance } from './allowance.ts'

/** An amount that does not come back by itself: places, or a period's money. */
export type FixedAllowance = Allowance & {
  readonly reserved: number
  /** What was used is gone until the period is over. */
  readonly spent: number
  /** Takes for a request that was under way before the allowance was there, whether it is free or not. */
  join(requestId: RequestId, amount: number): void
  /** With the request's id where it has joined: the ledger may tell of it as well, and it counts once. */
  settle(taken: number, used: number, requestId?: RequestId): void
}

/** What was spent by the ledger, without the rows of these requests. */
export type ReadAmountSpent = (without: readonly RequestId[]) => Promise<{ readonly sum: number }>

/**
 * A fixed allowance in memory.
 *
 * `readSpent` tells what was spent of it before; until it has, nothing is free.
 * Use that is settled meanwhile is added to it.
 */
export function createFixedAllowance(initial: number, readSpent: ReadAmountSpent | null = null): FixedAllowance {
  let limit = initial
  let reserved = 0
  let spent = 0
  let isRead = readSpent === null
  let reading: Promise<void> | null = null
  /** Who has joined before the ledger was read; they may be in it when it is. */
  const joined = new Set<RequestId>()
  const read = async () => {
    try {
      for (;;) {
        const known = [...joined]
        const before = await readSpent?.(known)
        // Who has joined meanwhile may be in what was read.
        if (joined.size > known.length) continue
        spent += before?.sum ?? 0
        isRead = true
        joined.clear()
        return
      }
    } finally {
      reading = null
    }
  }
  const free = () => (isRead ? Math.max(0, limit - spent - reserved) : 0)
  return {
    get limit() {
      return limit
    },
    get reserved() {
      return reserved
    },
    get spent() {
      return spent
    },
    returnsAtOnce: true,
    lagMs: 0,
    free,
    remaining: free,
    left: () => Math.max(0, limit - spent),
    take(amount) {
      reserved += amount
    },
    join(requestId, amount) {
      reserved += amount
      if (!isRead) joined.add(requestId)
    },
    settle(taken, used) {
      reserved -= taken
      spent += used
    },
    replenish: () => (isRead ? Promise.resolve() : (reading ??= read())),
    returned: () => null,
    giveBackUntaken() {},
    waitMs: (amount) => (amount > limit ? Infinity : null),
    resize(changed) {
      limit = changed
    },
    close: () => Promise.resolve(),
  }
}
