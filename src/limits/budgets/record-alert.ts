import type { Database } from '../../db/database.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Budget } from '../settings/budget-settings.ts'
import type { BudgetParts } from './budget-account.ts'

/** Writes an alert down, once for each budget and period however many gateways or restarts notice it. */
export function createAlert(parts: {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
}): BudgetParts['alert'] {
  const { db, clock, log } = parts
  const record = async (...[budget, periodStart, spent]: Parameters<BudgetParts['alert']>) => {
    const written = await db
      .insertInto('budget_alerts')
      .values({
        budget_id: budget.id,
        period_start: periodStart,
        organization_id: budget.organizationId,
        at: clock.nowMs(),
        spent_micros: spent.micros,
        spent_tokens: spent.tokens,
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning('budget_id')
      .executeTakeFirst()
    if (written !== undefined) log.warn({ ...fieldsOf(budget), spent }, 'a budget has reached its alert')
  }
  return (budget, periodStart, spent) => {
    record(budget, periodStart, spent).catch((error: unknown) => {
      log.error({ ...fieldsOf(budget), error }, 'the alert of a budget could not be recorded')
    })
  }
}

function fieldsOf({ id, organizationId, subject, alertPercent }: Budget) {
  return { budget_id: id, organization_id: organizationId, subject: subject.id, alert_percent: alertPercent }
}
