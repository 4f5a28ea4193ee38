import { keysOfQuota } from '../accounts/read-api-keys.ts'
import { spentByRequests, spentSince, type Spent } from '../billing/usage/query-usage.ts'
import { inputTokens } from '../core/generation.ts'
import type { LimitSubject } from '../core/limit.ts'
import { coveringMicros } from '../core/money.ts'
import type { Database } from '../db/database.ts'
import type { ReadSpent } from '../limits/budgets/budget-account.ts'
import type { Amounts } from '../limits/budgets/amounts.ts'
import { periodEndMs, periodStartMs } from '../limits/budgets/budget-period.ts'
import { readBudgetAlerts, type BudgetAlert } from '../limits/settings/budget-settings.ts'
import type { Budget, BudgetRaise } from '../limits/settings/setting.ts'

/** What the ledger holds of the subject of a budget, from the begin of its period, without the rows of some requests. */
export function createReadSpent(db: Database): ReadSpent {
  return async ({ organizationId, subject }, { fromMs }, without) => {
    const scope = { organizationId, ...(await filterOf(db, subject)) }
    const { upTo, ...all } = await spentSince(db, scope, fromMs)
    const apart = await spentByRequests(db, without, { fromMs, upTo })
    const micros = Number(coveringMicros(all.costPicos - apart.costPicos))
    return { sum: { micros, tokens: tokensOf(all) - tokensOf(apart) }, upTo }
  }
}

export type BudgetUse = {
  /** The period that is asked about; that of a lifetime has no end. */
  readonly range: { readonly fromMs: number; readonly beforeMs: number }
  readonly spent: Amounts
  readonly alerts: readonly BudgetAlert[]
  /** The one in force. */
  readonly raise: BudgetRaise | null
}

/** The period of a budget that a moment lies in, what the ledger holds of it, and the alerts that were reached in it. */
export async function readBudgetUse(db: Database, budget: Budget, nowMs: number): Promise<BudgetUse> {
  const { organizationId, subject, period } = budget
  const range = { fromMs: periodStartMs(period, nowMs), beforeMs: periodEndMs(period, nowMs) }
  const { sum } = await createReadSpent(db)({ organizationId, subject }, range, [])
  const alerts = await readBudgetAlerts(db, budget, range.fromMs)
  const raise = budget.raise !== null && nowMs < budget.raise.untilMs ? budget.raise : null
  return { range, spent: sum, alerts, raise }
}

function tokensOf({ usage }: Spent): number {
  return inputTokens(usage) + usage.output
}

async function filterOf(db: Database, subject: LimitSubject) {
  switch (subject.kind) {
    case 'organization':
      return {}
    case 'project':
      return { projectIds: [subject.id] }
    case 'api-key': {
      const keys = await keysOfQuota(db, subject.id)
      return { apiKeyIds: keys.length === 0 ? [subject.id] : keys }
    }
  }
}
