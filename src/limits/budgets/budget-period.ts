import type { BudgetPeriod } from '../../core/limit.ts'

const dayMs = 86_400_000

/** When the period that a moment lies in began, by UTC's calendar; weeks begin on Mondays. */
export function periodStartMs(period: BudgetPeriod, atMs: number): number {
  const at = new Date(atMs)
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
  switch (period) {
    case 'day':
      return Date.UTC(year, month, day)
    case 'week':
      return Date.UTC(year, month, day - ((at.getUTCDay() + 6) % 7))
    case 'month':
      return Date.UTC(year, month)
    case 'year':
      return Date.UTC(year, 0)
    case 'lifetime':
      return 0
  }
}

/** When the next one begins: never, after a lifetime. */
export function periodEndMs(period: BudgetPeriod, atMs: number): number {
  const startMs = periodStartMs(period, atMs)
  const start = new Date(startMs)
  switch (period) {
    case 'day':
      return startMs + dayMs
    case 'week':
      return startMs + 7 * dayMs
    case 'month':
      return Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1)
    case 'year':
      return Date.UTC(start.getUTCFullYear() + 1, 0)
    case 'lifetime':
      return Infinity
  }
}
