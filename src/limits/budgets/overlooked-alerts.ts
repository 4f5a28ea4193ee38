import type { Database } from '../../db/database.ts'
import { readBudgets } from '../settings/budget-settings.ts'
import { maxInForce, type Budget } from '../settings/setting.ts'
import { isReached, type BudgetParts } from './budget-account.ts'
import { periodEndMs, periodStartMs } from './budget-period.ts'

type LookingParts = Pick<BudgetParts, 'clock' | 'readSpent' | 'alert'> & {
  readonly db: Database
  /** There may be thousands of budgets, and nobody who stops waits for them. */
  readonly signal: AbortSignal
}

/**
 * Alerts of what budgets have reached in the period that it is, where nobody has written that down: the process that noticed
 * it may have ended before it could, and a budget that is used up has no further request by which it would be noticed.
 *
 * Periods that are over are left alone: what their budgets had then is not known any more.
 */
export async function alertOverlooked(parts: LookingParts): Promise<void> {
  const nowMs = parts.clock.nowMs()
  const budgets = (await readBudgets(parts.db)).filter(({ alertPercents }) => alertPercents.length > 0)
  const written = budgets.length === 0 ? new Set<string>() : await readWritten(parts.db, budgets, nowMs)
  for (const budget of budgets) {
    if (parts.signal.aborted) return
    const periodStart = periodStartMs(budget.period, nowMs)
    const open = budget.alertPercents.filter((percent) => !written.has(nameOf(budget.id, periodStart, percent)))
    if (open.length > 0) await alertReached(parts, budget, { open, periodStart })
  }
}

async function readWritten(db: Database, budgets: readonly Budget[], nowMs: number): Promise<ReadonlySet<string>> {
  const starts = new Set(budgets.map(({ period }) => periodStartMs(period, nowMs)))
  const rows = await db
    .selectFrom('budget_alerts')
    .select(['budget_id', 'period_start', 'percent'])
    .where('period_start', 'in', [...starts])
    .execute()
  return new Set(rows.map((row) => nameOf(row.budget_id, row.period_start, row.percent)))
}

function nameOf(budgetId: string, periodStart: number, percent: number): string {
  return `${budgetId}:${periodStart}:${percent}`
}

async function alertReached(
  { clock, readSpent, alert }: LookingParts,
  budget: Budget,
  { open, periodStart }: { readonly open: readonly number[]; readonly periodStart: number },
): Promise<void> {
  const range = { fromMs: periodStart, beforeMs: periodEndMs(budget.period, periodStart) }
  const { sum } = await readSpent(budget, range, [])
  const nowMs = clock.nowMs()
  const funds = [
    { spent: sum.micros, limit: maxInForce(budget, 'microsMax', nowMs) },
    { spent: sum.tokens, limit: maxInForce(budget, 'tokensMax', nowMs) },
  ]
  for (const percent of open) {
    const isDue = funds.some(({ spent, limit }) => limit !== null && spent > 0 && isReached({ spent, limit }, percent))
    if (isDue) alert(budget, { percent, periodStart }, () => Promise.resolve(sum))
  }
}
