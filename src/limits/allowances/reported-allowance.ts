import type { Allowance } from './allowance.ts'

/**
 * An allowance that is counted and shown, and refuses nobody.
 *
 * Nothing is reserved of it. What was used is taken as far as it goes, so that no debt is shown that nobody pays.
 */
export function createReportedAllowance(counted: Allowance): Allowance {
  return {
    get limit() {
      return counted.limit
    },
    returnsAtOnce: true,
    lagMs: 0,
    free: () => Infinity,
    remaining: () => counted.remaining(),
    left: () => Infinity,
    take() {},
    settle: (_, used) => counted.take(Math.min(used, counted.free())),
    returned: () => null,
    giveBackUntaken() {},
    replenish: () => Promise.resolve(),
    waitMs: (amount) => counted.waitMs(amount),
    resize: (limit) => counted.resize(limit),
    close: () => counted.close(),
  }
}
