export type BudgetPeriod = 'day' | 'month'

/** When the period that a moment lies in began, by UTC's calendar. */
export function periodStartMs(period: BudgetPeriod, atMs: number): number {
  const at = new Date(atMs)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), period === 'day' ? at.getUTCDate() : 1)
}

/** When the next one begins. */
export function periodEndMs(period: BudgetPeriod, atMs: number): number {
  const at = new Date(atMs)
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()]
  return period === 'day' ? Date.UTC(year, month, at.getUTCDate() + 1) : Date.UTC(year, month + 1)
}
