import type { OrganizationId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import { listEnded, monthOf, openMonth, periodOf } from '../availability/month.ts'

/** The organizations of which there is no invoice for a month yet: every one that was there in it gets one. */
export async function listUninvoiced(db: Database, month: string): Promise<readonly OrganizationId[]> {
  const rows = await db
    .selectFrom('organizations')
    .leftJoin('invoices', (join) =>
      join.onRef('invoices.organization_id', '=', 'organizations.id').on('invoices.month', '=', month),
    )
    .select('organizations.id')
    .where('organizations.created_at', '<', periodOf(month).untilMs)
    .where('invoices.number', 'is', null)
    .orderBy('organizations.id')
    .execute()
  return rows.map(({ id }) => id)
}

/** When the first month begins of which somebody has no invoice yet, so that its rows are still needed; now where there is nobody. */
export async function findUninvoicedFrom(db: Database, nowMs: number): Promise<number> {
  for (const month of [...(await listEnded(db, nowMs)), openMonth(nowMs), monthOf(nowMs)]) {
    if ((await listUninvoiced(db, month)).length > 0) return periodOf(month).fromMs
  }
  return nowMs
}
