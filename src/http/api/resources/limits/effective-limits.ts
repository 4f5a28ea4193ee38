import { z } from 'zod'
import type { ApiKeyId } from '../../../../core/ids.ts'
import { notFound, requirePermission } from '../../../../core/permission.ts'
import type { ApiKeyPrincipal, Principal } from '../../../../core/principal.ts'
import type { Database } from '../../../../db/database.ts'
import { defineRoute, type Route } from '../../route.ts'
import { apiKeyId, inOrganization, model } from '../../schemas.ts'
import { subject } from './limit-schemas.ts'

const standing = z
  .strictObject({
    subject,
    model: z.union([model, z.literal('*')]),
    setBy: z.enum(['installation', 'organization']),
    kind: z.enum(['requests', 'input-tokens', 'output-tokens', 'concurrency']),
    limit: z.int(),
    remaining: z.int().describe('As this gateway knows it.'),
    fullInMs: z.number().nullable().describe('When all of it is there again if nothing more is asked.'),
    isEnforced: z.boolean().describe('Whether requests beyond it are refused; otherwise it is told in headers alone.'),
    isBinding: z.boolean().describe('Whether it is the one of its kind that is used up first.'),
  })
  .meta({ id: 'LimitStanding' })

type Asked = Pick<ApiKeyPrincipal, 'organizationId'> & { readonly apiKeyId: ApiKeyId }

/** The key as it would ask; throws where it cannot be seen. */
async function findKey(db: Database, principal: Principal, { organizationId, apiKeyId: id }: Asked) {
  const row = await db
    .selectFrom('api_keys')
    .select(['project_id', 'quota_id', 'owner_id'])
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  const { project_id: projectId, quota_id: quotaId, owner_id: ownerId } = row
  requirePermission(principal, 'limits:read', { organizationId, projectId, ownerId })
  return { kind: 'api-key', apiKeyId: id, organizationId, projectId, quotaId } as const
}

export const effectiveLimitRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/organizations/{organizationId}/api-keys/{apiKeyId}/limits',
    permission: 'limits:read',
    scope: 'organization',
    summary: 'Read every limit that applies to a key’s requests, what is left of each, and which binds',
    params: inOrganization.extend({ apiKeyId }),
    query: z.strictObject({ model: model.optional().describe('Without one, the limits for all models together.') }),
    answer: z.strictObject({ data: z.array(standing) }),
    async work({ parts, principal, params, query: { model: wanted = null } }) {
      const key = await findKey(parts.accounts.db, principal, params)
      return { data: parts.management.readLimitStanding(key, wanted) }
    },
  }),
]
