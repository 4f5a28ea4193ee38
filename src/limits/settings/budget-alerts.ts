import type { OrganizationId } from '../../core/ids.ts'
import { notFound, requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import { actorOf, change, type ChangeParts } from '../../db/change.ts'

/** A share of a budget that was spent. */
export type Alert = {
  readonly id: string
  readonly budgetId: string
  readonly percent: number
  readonly periodStartMs: number
  readonly reachedAtMs: number
  readonly spentMicros: number
  readonly spentTokens: number
  readonly acknowledgedAtMs: number | null
  /** As the audit names actors. */
  readonly acknowledgedBy: string | null
}

/** The alerts of an organization, newest first. */
export async function listAlerts(
  { db }: Pick<ChangeParts, 'db'>,
  principal: Principal,
  {
    organizationId,
    state,
  }: { readonly organizationId: OrganizationId; readonly state: 'open' | 'acknowledged' | null },
): Promise<readonly Alert[]> {
  requirePermission(principal, 'alerts:read', { organizationId })
  let query = db.selectFrom('budget_alerts').selectAll().where('organization_id', '=', organizationId)
  if (state === 'open') query = query.where('acknowledged_at', 'is', null)
  if (state === 'acknowledged') query = query.where('acknowledged_at', 'is not', null)
  const rows = await query
    .orderBy('at', 'desc')
    .orderBy('budget_id')
    .orderBy('percent', 'desc')
    .limit(alertsMax)
    .execute()
  return rows.map((row) => ({
    id: `alert_${row.budget_id}_${row.period_start}_${row.percent}`,
    budgetId: row.budget_id,
    percent: row.percent,
    periodStartMs: row.period_start,
    reachedAtMs: row.at,
    spentMicros: row.spent_micros,
    spentTokens: row.spent_tokens,
    acknowledgedAtMs: row.acknowledged_at,
    acknowledgedBy: row.acknowledged_by,
  }))
}

const alertsMax = 1_000

/** Notes that somebody has seen an alert; one that was seen already stays with who was first. */
export async function acknowledgeAlert(
  parts: ChangeParts,
  principal: Principal,
  { organizationId, id }: { readonly organizationId: OrganizationId; readonly id: string },
): Promise<void> {
  requirePermission(principal, 'alerts:update', { organizationId })
  const [, budgetId = '', start = '', percent = ''] = /^alert_(\w+)_(\d+)_(\d+)$/.exec(id) ?? []
  const action = { action: 'alerts:acknowledge', organizationId, target: id }
  await change(parts, principal, action, async (transaction, note) => {
    const own = { budget_id: budgetId, period_start: Number(start), percent: Number(percent) }
    const row = await transaction
      .selectFrom('budget_alerts')
      .select('acknowledged_at')
      .where('organization_id', '=', organizationId)
      .where('budget_id', '=', own.budget_id)
      .where('period_start', '=', own.period_start)
      .where('percent', '=', own.percent)
      .executeTakeFirst()
    if (row === undefined) throw notFound()
    const acknowledged = { acknowledged_at: parts.clock.nowMs(), acknowledged_by: actorOf(principal) }
    await transaction
      .updateTable('budget_alerts')
      .set(acknowledged)
      .where('organization_id', '=', organizationId)
      .where('budget_id', '=', own.budget_id)
      .where('period_start', '=', own.period_start)
      .where('percent', '=', own.percent)
      .where('acknowledged_at', 'is', null)
      .execute()
    note({ acknowledged_at: row.acknowledged_at }, acknowledged)
  })
}
