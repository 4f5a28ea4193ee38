import { sql } from 'kysely'
import type { ApiKeyId, OrganizationId, ProjectId, RequestId } from '../../core/ids.ts'
import { narrowProjects, notFound, requirePermission, type Target } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { Database } from '../../db/database.ts'
import type { LedgerLine } from './read-ledger.ts'

export type LedgerFilter = {
  readonly organizationId: OrganizationId
  /** Absent is every one. */
  readonly projectIds?: readonly ProjectId[]
  readonly apiKeyId?: ApiKeyId
  readonly model?: string
  readonly outcome?: LedgerLine['outcome']
  readonly fromMs?: number
  readonly toMs?: number
}

/** The place of a row in the list, newest first. */
export type LedgerPlace = { readonly at: number; readonly sequence: number }

export type LedgerSearch = LedgerFilter & { readonly after: LedgerPlace | null; readonly limit: number }

/**
 * Charges and reversals of an organization, newest first, as far as the principal may see them; what is added
 * meanwhile does not move what comes after.
 */
export async function listLedger(db: Database, principal: Principal, search: LedgerSearch): Promise<LedgerLine[]> {
  const { organizationId, apiKeyId, model, outcome, fromMs, toMs, after, limit } = search
  const projectIds = narrowProjects(principal, 'requests:read', search)
  if (projectIds?.length === 0) return []
  let query = db.selectFrom('ledger').selectAll().where('organization_id', '=', organizationId)
  if (projectIds !== undefined) query = query.where('project_id', 'in', projectIds)
  if (apiKeyId !== undefined) query = query.where('api_key_id', '=', apiKeyId)
  if (model !== undefined) query = query.where('model', '=', model)
  if (outcome !== undefined) query = query.where('outcome', '=', outcome)
  if (fromMs !== undefined) query = query.where('at', '>=', fromMs)
  if (toMs !== undefined) query = query.where('at', '<', toMs)
  if (after !== null) query = query.where(sql<boolean>`(at, sequence) < (${after.at}, ${after.sequence})`)
  return query.orderBy('at', 'desc').orderBy('sequence', 'desc').limit(limit).execute()
}

/** A request's charge and, where there is one, its reversal. Throws `not-found` for one that the principal may not see. */
export async function readRequestLines(
  db: Database,
  principal: Principal,
  requestId: RequestId,
): Promise<LedgerLine[]> {
  const lines = await linesOfRequest(db, requestId)
  const [line] = lines
  if (line === undefined) throw notFound()
  requirePermission(principal, 'requests:read', targetOf(line))
  return lines
}

/** To what a permission is asked for that reaches a request; null where there is none. */
export async function findRequestTarget(db: Database, requestId: RequestId): Promise<Target | null> {
  const [line] = await linesOfRequest(db, requestId)
  return line === undefined ? null : targetOf(line)
}

function targetOf({ organization_id: organizationId, project_id: projectId }: LedgerLine): Target {
  return { organizationId, projectId }
}

function linesOfRequest(db: Database, requestId: RequestId): Promise<LedgerLine[]> {
  return db.selectFrom('ledger').selectAll().where('request_id', '=', requestId).orderBy('sequence').execute()
}
