import type { ApiKeyId, OrganizationId, ProjectId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import type { LedgerLine } from './read-ledger.ts'

export type RequestFilter = {
  readonly organizationId: OrganizationId
  readonly fromMs?: number
  readonly toMs?: number
  readonly projectIds?: readonly ProjectId[]
  readonly apiKeyIds?: readonly ApiKeyId[]
  readonly models?: readonly string[]
}

export type RequestPage = {
  readonly rows: readonly LedgerLine[]
  /** Where the next page begins; null after the last one. */
  readonly next: { readonly at: number; readonly sequence: number } | null
}

/** The single requests of one organization, the latest first. */
export async function listRequests(
  db: Database,
  { organizationId, fromMs, toMs, projectIds, apiKeyIds, models }: RequestFilter,
  { limit, after }: { readonly limit: number; readonly after: RequestPage['next'] },
): Promise<RequestPage> {
  let query = db.selectFrom('ledger').selectAll().where('organization_id', '=', organizationId)
  if (fromMs !== undefined) query = query.where('at', '>=', fromMs)
  if (toMs !== undefined) query = query.where('at', '<', toMs)
  if (projectIds !== undefined) query = query.where('project_id', 'in', projectIds)
  if (apiKeyIds !== undefined) query = query.where('api_key_id', 'in', apiKeyIds)
  if (models !== undefined) query = query.where('model', 'in', models)
  if (after !== null) {
    query = query
      .where('at', '<=', after.at)
      .where(({ or, eb }) => or([eb('at', '<', after.at), eb('sequence', '<', after.sequence)]))
  }
  const rows = await query
    .orderBy('at', 'desc')
    .orderBy('sequence', 'desc')
    .limit(limit + 1)
    .execute()
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    rows: page,
    next: rows.length > limit && last !== undefined ? { at: last.at, sequence: last.sequence } : null,
  }
}
