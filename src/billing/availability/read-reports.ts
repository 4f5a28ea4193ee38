import type { OrganizationId } from '../../core/ids.ts'
import { notFound, requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { Database } from '../../db/database.ts'
import { periodOf } from './month.ts'
import { computeSla, type SlaNumbers, type SlaQuestion } from './report.ts'

export type StoredReport = {
  readonly organizationId: OrganizationId
  readonly month: string
  readonly version: number
  readonly atMs: number
  readonly note: string
}

/** The signed reports of a month that is over, the newest version first; empty while it has none. */
export async function readReports(
  db: Database,
  principal: Principal,
  { organizationId, month }: Pick<SlaQuestion, 'organizationId' | 'month'>,
): Promise<readonly StoredReport[]> {
  requirePermission(principal, 'availability:read', { organizationId })
  const rows = await db
    .selectFrom('sla_reports')
    .select(['version', 'at', 'note'])
    .where('organization_id', '=', organizationId)
    .where('month', '=', month)
    .orderBy('version', 'desc')
    .execute()
  return rows.map(({ at, ...row }) => ({ ...row, organizationId, month, atMs: at }))
}

/** How a month stands by now, which nobody signs yet. */
export async function readCurrent(
  db: Database,
  principal: Principal,
  question: SlaQuestion & { readonly nowMs: number },
): Promise<SlaNumbers> {
  const { organizationId, month, nowMs } = question
  requirePermission(principal, 'availability:read', { organizationId })
  if (periodOf(month).fromMs > nowMs) throw notFound()
  return computeSla(db, question, nowMs)
}
