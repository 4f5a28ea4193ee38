import type { OrganizationId } from '../../core/ids.ts'
import type { LimitSubject } from '../../core/limit.ts'
import { requirePermission, visibleProjects } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { ChangeParts, Fields } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import { randomId } from '../../lib/random-id.ts'
import type { BudgetPeriod } from '../budgets/budget-period.ts'
import { changeLimits } from './change-limits.ts'
import { requireAny, requireWhole } from './check-values.ts'

/** Null does not limit, or does not alert. */
export type BudgetValues = {
  readonly microsMax: number | null
  readonly tokensMax: number | null
  /** The share of either at which an alert is recorded. */
  readonly alertPercent: number | null
}

export type BudgetPlace = {
  readonly organizationId: OrganizationId
  /** Belongs to that organization: what belongs to another is never looked up under it. */
  readonly subject: LimitSubject
  readonly period: BudgetPeriod
}

export type Budget = BudgetPlace & BudgetValues & { readonly id: string }

const noBudget: BudgetValues = { microsMax: null, tokensMax: null, alertPercent: null }

/** What the principal may see of an organization's budgets. */
export async function listBudgets(
  { db }: Pick<ChangeParts, 'db'>,
  principal: Principal,
  organizationId: OrganizationId,
): Promise<Budget[]> {
  const projects = visibleProjects(principal, 'budgets:read', organizationId)
  const budgets = (await readBudgets(db)).filter((budget) => budget.organizationId === organizationId)
  return budgets.filter(({ subject }) => projects === null || projects.some((id) => id === subject.id))
}

/** Sets a budget's values; what is not given is not limited. Returns the budget's id. */
export async function setBudget(
  parts: ChangeParts,
  principal: Principal,
  { organizationId, subject, period, ...given }: BudgetPlace & Partial<BudgetValues>,
): Promise<string> {
  requirePermission(principal, 'budgets:update', { organizationId })
  const values = { ...noBudget, ...given }
  checkBudget(values)
  const existing = (await readBudgets(parts.db)).find((budget) => isAt(budget, { organizationId, subject, period }))
  const id = existing?.id ?? `budget_${randomId()}`
  const nowMs = parts.clock.nowMs()
  const action = { action: 'budgets:set', organizationId, target: id }
  return changeLimits(parts, principal, action, async (transaction, note) => {
    const { microsMax, tokensMax, alertPercent } = values
    const row = { micros_max: microsMax, tokens_max: tokensMax, alert_percent: alertPercent, updated_at: nowMs }
    const place = { organization_id: organizationId, subject_kind: subject.kind, subject_id: subject.id, period }
    const written = await transaction
      .insertInto('budgets')
      .values({ id, ...place, ...row, created_at: nowMs })
      .onConflict((conflict) =>
        conflict.columns(['organization_id', 'subject_kind', 'subject_id', 'period']).doUpdateSet(row),
      )
      .returning('id')
      .executeTakeFirstOrThrow()
    note(existing === undefined ? null : fieldsOf(existing), { subject: subject.id, period, ...values })
    return written.id
  })
}

/** Whether there was such a budget. */
export async function removeBudget(
  parts: ChangeParts,
  principal: Principal,
  { id, organizationId }: { readonly id: string; readonly organizationId: OrganizationId },
): Promise<boolean> {
  requirePermission(principal, 'budgets:update', { organizationId })
  const existing = (await readBudgets(parts.db)).find(
    (budget) => budget.id === id && budget.organizationId === organizationId,
  )
  if (existing === undefined) return false
  const action = { action: 'budgets:remove', organizationId, target: id }
  return changeLimits(parts, principal, action, async (transaction, note) => {
    note(fieldsOf(existing), null)
    const { numDeletedRows } = await transaction.deleteFrom('budgets').where('id', '=', id).executeTakeFirstOrThrow()
    return numDeletedRows > 0n
  })
}

export async function readBudgets(db: Database): Promise<Budget[]> {
  const rows = await db.selectFrom('budgets').selectAll().orderBy('created_at').orderBy('id').execute()
  return rows.map((row) => ({
    id: row.id,
    organizationId: row.organization_id,
    subject: { kind: row.subject_kind, id: row.subject_id } as LimitSubject,
    period: row.period,
    microsMax: row.micros_max,
    tokensMax: row.tokens_max,
    alertPercent: row.alert_percent,
  }))
}

function checkBudget({ microsMax, tokensMax, alertPercent }: BudgetValues): void {
  requireWhole('microsMax', microsMax, [0, Number.MAX_SAFE_INTEGER])
  requireWhole('tokensMax', tokensMax, [0, Number.MAX_SAFE_INTEGER])
  requireAny(['microsMax', 'tokensMax'], [microsMax, tokensMax])
  requireWhole('alertPercent', alertPercent, [1, 100])
}

function isAt(budget: Budget, { organizationId, subject, period }: BudgetPlace): boolean {
  const isSame = budget.subject.kind === subject.kind && budget.subject.id === subject.id
  return isSame && budget.organizationId === organizationId && budget.period === period
}

function fieldsOf({ id: _, organizationId: __, subject, ...rest }: Budget): Fields {
  return { subject: subject.id, ...rest }
}
