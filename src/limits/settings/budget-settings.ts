import type { Selectable } from 'kysely'
import { invalidRequest } from '../../core/error.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { budgetFields, type BudgetValues } from '../../core/limit-fields.ts'
import type { LimitSubject } from '../../core/limit.ts'
import { notFound, requirePermission, visibleProjects } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { ChangeParts, Fields } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import type { BudgetTable } from '../../db/tables/limits.ts'
import { randomId } from '../../lib/random-id.ts'
import { changeLimits, type LimitChangeParts } from './change-limits.ts'
import { completeValues, fromColumns, toColumns } from './field-values.ts'
import { findSubject, subjectsIn } from './find-subject.ts'
import { requireSetter, setterOf } from './setter.ts'
import type { Budget, BudgetRaise, BudgetScope } from './setting.ts'

type BudgetReference = { readonly id: string; readonly organizationId: OrganizationId }

/** What the principal may see of an organization's budgets. */
export async function listBudgets(
  { db }: Pick<ChangeParts, 'db'>,
  principal: Principal,
  organizationId: OrganizationId,
): Promise<Budget[]> {
  const projects = visibleProjects(principal, 'budgets:read', organizationId)
  if (projects?.length === 0) return []
  let query = db.selectFrom('budgets').selectAll().where('organization_id', '=', organizationId)
  if (projects !== null) query = query.where('subject_id', 'in', subjectsIn(db, organizationId, projects))
  return (await query.orderBy('created_at').orderBy('id').execute()).map(toBudget)
}

/**
 * Sets all values of a budget; what is not given is not limited.
 *
 * Throws for a subject that the organization does not have, and for what is the installation's to change.
 */
export async function setBudget(
  parts: LimitChangeParts,
  principal: Principal,
  { organizationId, subject, period, ...given }: BudgetScope & Partial<BudgetValues>,
): Promise<Budget> {
  requirePermission(principal, 'budgets:update', { organizationId })
  const values = completeValues(budgetFields, given)
  const nowMs = parts.clock.nowMs()
  const id = `budget_${randomId()}`
  const action = { action: 'budgets:set', organizationId, target: id }
  const { setting } = await changeLimits(parts, principal, action, async (transaction, note) => {
    const before = await transaction
      .selectFrom(findSubject(transaction, { organizationId, subject }).as('subject'))
      .leftJoin('budgets', (join) =>
        join
          .onRef('budgets.subject_id', '=', 'subject.id')
          .on('budgets.organization_id', '=', organizationId)
          .on('budgets.subject_kind', '=', subject.kind)
          .on('budgets.period', '=', period),
      )
      .selectAll('budgets')
      .select('subject.id as subjectId')
      .executeTakeFirst()
    if (before === undefined) throw notFound()
    requireSetter(principal, before.set_by)
    const columns = { ...toColumns(budgetFields, values), set_by: setterOf(principal), updated_at: nowMs }
    const scope = { organization_id: organizationId, subject_kind: subject.kind, subject_id: before.subjectId, period }
    const row = await transaction
      .insertInto('budgets')
      .values({ id, ...scope, ...columns, created_at: nowMs })
      .onConflict((conflict) =>
        conflict.columns(['organization_id', 'subject_kind', 'subject_id', 'period']).doUpdateSet(columns),
      )
      .returningAll()
      .executeTakeFirstOrThrow()
    const budget = toBudget(row)
    const old = before.id === null ? null : fieldsOf(toBudget(before as Selectable<BudgetTable>))
    note(old, fieldsOf(budget), budget.id)
    return { kind: 'budget', setting: budget }
  })
  return setting
}

/**
 * Raises a budget until a time; what is not given stays as it is, and a raise that was there ends.
 *
 * Throws for what is no raise: less than the budget has, of what it does not limit, or until a time that is over.
 */
export async function raiseBudget(
  parts: LimitChangeParts,
  principal: Principal,
  { id, organizationId, raise }: BudgetReference & { readonly raise: BudgetRaise | null },
): Promise<Budget> {
  requirePermission(principal, 'budgets:update', { organizationId })
  if (raise !== null && !(raise.untilMs > parts.clock.nowMs())) {
    throw invalidRequest(['until'], 'value', 'until must be a time that is not over.')
  }
  const action = { action: 'budgets:raise', organizationId, target: id }
  const { setting } = await changeLimits(parts, principal, action, async (transaction, note) => {
    const find = transaction.selectFrom('budgets').selectAll().where('id', '=', id)
    const before = await find.where('organization_id', '=', organizationId).executeTakeFirst()
    if (before === undefined) throw notFound()
    requireSetter(principal, before.set_by)
    if (raise !== null) checkRaise(toBudget(before), raise)
    const row = await transaction
      .updateTable('budgets')
      .set({
        raised_micros_max: raise?.microsMax ?? null,
        raised_tokens_max: raise?.tokensMax ?? null,
        raised_until: raise?.untilMs ?? null,
        updated_at: parts.clock.nowMs(),
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    const budget = toBudget(row)
    note({ raise: toBudget(before).raise }, { raise: budget.raise })
    return { kind: 'budget', setting: budget }
  })
  return setting
}

function checkRaise(budget: Budget, raise: BudgetRaise): void {
  const given = raiseNames.filter((name) => raise[name] !== null)
  if (given.length === 0) throw invalidRequest(null, null, `Give at least one of ${raiseNames.join(', ')}.`)
  for (const name of given) {
    const [now, then] = [budget[name], Number(raise[name])]
    if (now === null) throw invalidRequest([name], 'value', `The budget does not limit ${name}.`)
    if (!Number.isSafeInteger(then) || then <= now) {
      throw invalidRequest([name], 'value', `${name} must be a whole number of more than the budget's ${now}.`)
    }
  }
}

const raiseNames = ['microsMax', 'tokensMax'] as const

/** Throws where there is no such budget, or it is the installation's. */
export async function removeBudget(
  parts: LimitChangeParts,
  principal: Principal,
  { id, organizationId }: BudgetReference,
): Promise<void> {
  requirePermission(principal, 'budgets:update', { organizationId })
  const action = { action: 'budgets:remove', organizationId, target: id }
  await changeLimits(parts, principal, action, async (transaction, note) => {
    const row = await transaction
      .deleteFrom('budgets')
      .where('id', '=', id)
      .where('organization_id', '=', organizationId)
      .returningAll()
      .executeTakeFirst()
    if (row === undefined) throw notFound()
    requireSetter(principal, row.set_by)
    note(fieldsOf(toBudget(row)), null)
    return { kind: 'removal', id }
  })
}

/** An alert of a budget in its period; null is one that is not reached yet. */
export type BudgetAlert = { readonly percent: number; readonly reachedAtMs: number | null }

/** Which of a budget's alerts have been reached in the period that began then, and when. */
export async function readBudgetAlerts(
  db: Database,
  { id, alertPercents }: Budget,
  periodStartMs: number,
): Promise<BudgetAlert[]> {
  if (alertPercents.length === 0) return []
  const rows = await db
    .selectFrom('budget_alerts')
    .select(['percent', 'at'])
    .where('budget_id', '=', id)
    .where('period_start', '=', periodStartMs)
    .execute()
  return alertPercents.map((percent) => {
    return { percent, reachedAtMs: rows.find((row) => row.percent === percent)?.at ?? null }
  })
}

/** The budgets of every organization, for the gateway that holds them in memory. */
export async function readBudgets(db: Database): Promise<Budget[]> {
  const rows = await db.selectFrom('budgets').selectAll().orderBy('created_at').orderBy('id').execute()
  return rows.map(toBudget)
}

function fieldsOf({ id: _, organizationId: __, subject, ...rest }: Budget): Fields {
  return { subject: subject.id, ...rest }
}

function toBudget(row: Selectable<BudgetTable>): Budget {
  return {
    id: row.id,
    organizationId: row.organization_id,
    subject: { kind: row.subject_kind, id: row.subject_id } as LimitSubject,
    period: row.period,
    setBy: row.set_by,
    ...fromColumns(budgetFields, row),
    raise: toRaise(row),
  }
}

function toRaise(row: Selectable<BudgetTable>): BudgetRaise | null {
  const { raised_micros_max: microsMax, raised_tokens_max: tokensMax, raised_until: untilMs } = row
  return untilMs === null ? null : { microsMax, tokensMax, untilMs }
}
