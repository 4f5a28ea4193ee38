import type { OrganizationId } from '../../core/ids.ts'
import { requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { AccountsParts } from '../parts.ts'
import { toEntry, type AuditEntry } from './read-audit.ts'

export type AuditFilter = {
  readonly organizationId: OrganizationId
  readonly actor?: string
  readonly action?: string
  readonly target?: string
  readonly fromMs?: number
  readonly toMs?: number
}

/** Newest first; what is recorded meanwhile does not move what comes after. */
export type AuditSearch = AuditFilter & { readonly beforeSequence: number | null; readonly limit: number }

export async function listAudit(
  { db }: Pick<AccountsParts, 'db'>,
  principal: Principal,
  { organizationId, beforeSequence, limit, ...filter }: AuditSearch,
): Promise<AuditEntry[]> {
  requirePermission(principal, 'audit:read', { organizationId })
  let query = db.selectFrom('audit').selectAll().where('organization_id', '=', organizationId)
  if (beforeSequence !== null) query = query.where('sequence', '<', beforeSequence)
  if (filter.actor !== undefined) query = query.where('actor', '=', filter.actor)
  if (filter.action !== undefined) query = query.where('action', '=', filter.action)
  if (filter.target !== undefined) query = query.where('target', '=', filter.target)
  if (filter.fromMs !== undefined) query = query.where('at', '>=', filter.fromMs)
  if (filter.toMs !== undefined) query = query.where('at', '<', filter.toMs)
  // Rows without a place were put there by hand: verification tells of them.
  const rows = await query.where('sequence', 'is not', null).orderBy('sequence', 'desc').limit(limit).execute()
  return rows.map(toEntry)
}
