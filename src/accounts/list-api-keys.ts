import type { ApiKeyId, MemberId, OrganizationId, ProjectId } from '../core/ids.ts'
import { visibleProjects } from '../core/permission.ts'
import type { Principal } from '../core/principal.ts'
import type { ApiKeyTable } from '../db/tables/accounts.ts'
import { fromRuleColumns, type KeyRules } from './key-rules.ts'
import { afterCursor, rowsToRead, toPage, type Page, type PageRequest } from './page.ts'
import type { AccountsParts } from './parts.ts'

export type ApiKeySummary = {
  readonly id: ApiKeyId
  readonly name: string
  readonly projectId: ProjectId
  readonly ownerId: MemberId | null
  readonly lastFour: string
  readonly state: 'active' | 'disabled' | 'expired' | 'revoked'
  readonly createdAtMs: number
  readonly revokedAtMs: number | null
  readonly lastUsedAtMs: number | null
  readonly rotatedFrom: ApiKeyId | null
  readonly rules: KeyRules
}

export type ApiKeyFilter = PageRequest & { readonly organizationId: OrganizationId; readonly projectId?: ProjectId }

export async function listApiKeys(
  { db, clock }: AccountsParts,
  principal: Principal,
  filter: ApiKeyFilter,
): Promise<Page<ApiKeySummary>> {
  const { organizationId, projectId } = filter
  const visible = visibleProjects(principal, 'api-keys:read', organizationId)
  if (visible?.length === 0) return { items: [], next: null }
  let query = db.selectFrom('api_keys').selectAll().where('organization_id', '=', organizationId)
  if (projectId !== undefined) query = query.where('project_id', '=', projectId)
  if (visible !== null) query = query.where('project_id', 'in', visible)
  const rows = await query
    .where(afterCursor(filter))
    .orderBy('created_at')
    .orderBy('id')
    .limit(rowsToRead(filter))
    .execute()
  const now = clock.nowMs()
  return toPage(rows, filter, (row) => summarizeApiKey(row, now))
}

export function summarizeApiKey(row: ApiKeyTable, now: number): ApiKeySummary {
  return {
    id: row.id,
    name: row.name,
    projectId: row.project_id,
    ownerId: row.owner_id,
    lastFour: row.last_four,
    state: stateOf(row, now),
    createdAtMs: row.created_at,
    revokedAtMs: row.revoked_at,
    lastUsedAtMs: row.last_used_at,
    rotatedFrom: row.rotated_from,
    rules: fromRuleColumns(row),
  }
}

function stateOf({ revoked_at, expires_at, disabled_at }: ApiKeyTable, now: number): ApiKeySummary['state'] {
  if (revoked_at !== null) return 'revoked'
  if (expires_at !== null && expires_at <= now) return 'expired'
  return disabled_at === null ? 'active' : 'disabled'
}
