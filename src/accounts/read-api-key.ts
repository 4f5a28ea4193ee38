import type { ApiKeyId } from '../core/ids.ts'
import { notFound, requirePermission } from '../core/permission.ts'
import type { Principal } from '../core/principal.ts'
import type { ApiKeyReference } from './api-keys.ts'
import { summarizeApiKey, type ApiKeySummary } from './list-api-keys.ts'
import type { AccountsParts } from './parts.ts'

export async function readApiKey(
  { db, clock }: AccountsParts,
  principal: Principal,
  { id, organizationId }: ApiKeyReference,
): Promise<ApiKeySummary> {
  const row = await db
    .selectFrom('api_keys')
    .selectAll()
    .where('id', '=', id as ApiKeyId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  requirePermission(principal, 'api-keys:read', { organizationId, projectId: row.project_id, ownerId: row.owner_id })
  return summarizeApiKey(row, clock.nowMs())
}
