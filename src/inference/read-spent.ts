import { keysOfQuota } from '../accounts/keys-of-quota.ts'
import { spentSince } from '../billing/usage/query-usage.ts'
import { inputTokens } from '../core/generation.ts'
import type { LimitSubject } from '../core/limit.ts'
import type { Database } from '../db/database.ts'
import type { Amounts, ReadSpent } from '../limits/budgets/budget-account.ts'
import { periodEndMs, periodStartMs } from '../limits/budgets/budget-period.ts'
import type { BudgetPlace } from '../limits/settings/budget-settings.ts'

/** What the ledger holds of the subject of a budget, from the begin of its period. */
export function createReadSpent(db: Database): ReadSpent {
  return async ({ organizationId, subject }, { fromMs }) => {
    const { costMicros, usage } = await spentSince(db, { organizationId, ...(await filterOf(db, subject)) }, fromMs)
    return { micros: Number(costMicros), tokens: inputTokens(usage) + usage.output }
  }
}

/** The period of a budget that a moment lies in, and what the ledger holds of it. */
export async function readBudgetUse(
  db: Database,
  { organizationId, subject, period }: BudgetPlace,
  nowMs: number,
): Promise<{ readonly range: { readonly fromMs: number; readonly beforeMs: number }; readonly spent: Amounts }> {
  const range = { fromMs: periodStartMs(period, nowMs), beforeMs: periodEndMs(period, nowMs) }
  const { micros, tokens } = await createReadSpent(db)({ organizationId, subject }, range)
  return { range, spent: { micros, tokens } }
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
