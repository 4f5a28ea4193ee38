import type { Allowance } from './allowance.ts'

/** An amount that does not come back by itself: places, or a period's money. */
export type Fund = Allowance & {
  readonly reserved: number
  /** What was used is gone until the period is over. */
  readonly spent: number
}

/**
 * A fund in memory.
 *
 * `readSpent` tells what was spent of it before; until it has, nothing is free.
 * What is settled meanwhile is added to it.
 */
export function createFundAllowance(initial: number, readSpent: (() => Promise<number>) | null = null): Fund {
  let limit = initial
  let reserved = 0
  let spent = 0
  let isRead = readSpent === null
  let reading: Promise<void> | null = null
  const read = async () => {
    try {
      spent += (await readSpent?.()) ?? 0
      isRead = true
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
    free,
    remaining: free,
    left: () => Math.max(0, limit - spent),
    take(amount) {
      reserved += amount
    },
    settle(taken, used) {
      reserved -= taken
      spent += used
    },
    replenish: () => (isRead ? Promise.resolve() : (reading ??= read())),
    waitMs: (amount) => (amount > limit ? Infinity : null),
    resize(changed) {
      limit = changed
    },
    close: () => Promise.resolve(),
  }
}
