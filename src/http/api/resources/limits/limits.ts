import { z } from 'zod'
import { limitFields } from '../../../../core/limit-fields.ts'
import { limitSetters } from '../../../../core/limit.ts'
import { listLimits, removeLimit, setLimit } from '../../../../limits/settings/limit-settings.ts'
import { pageOfAll } from '../../cursor.ts'
import { defineRoute, type Route } from '../../route.ts'
import { apiKeyId, given, id, inOrganization, model, pageOf, pageQuery, toPage } from '../../schemas.ts'
import { givenFields, shownFields, subject } from './limit-schemas.ts'
import type { Limit } from '../../../../limits/settings/setting.ts'
import type { ApiKeyId } from '../../../../core/ids.ts'
import { notFound, requirePermission } from '../../../../core/permission.ts'
import type { ApiKeyPrincipal, Principal } from '../../../../core/principal.ts'
import type { Database } from '../../../../db/database.ts'

const limitId = id('limit')
const scope = {
  subject,
  model: z.union([model, z.literal('*')]).describe('A model, or * for all of them together.'),
}

const limit = z
  .strictObject({
    id: limitId,
    ...scope,
    ...shownFields(limitFields),
    setBy: z
      .enum(limitSetters)
      .describe(
        'What the installation sets takes the place of the tier’s, and it alone changes it; what an organization sets holds beside it.',
      ),
  })
  .meta({ id: 'Limit' })

const limitToSet = z
  .strictObject({
    ...scope,
    ...givenFields(limitFields),
  })
  .meta({ id: 'LimitToSet' })

const path = '/api/v1/organizations/{organizationId}/limits'

function show({ organizationId: _, ...rest }: Limit): z.input<typeof limit> {
  return rest as z.input<typeof limit>
}

export const limitRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path,
    permission: 'limits:read',
    scope: 'organization',
    summary: 'List the limits of an organization, its projects and its keys',
    params: inOrganization,
    query: pageQuery,
    answer: pageOf(limit),
    async work({ parts, principal, params, query }) {
      const limits = await listLimits(parts.accounts, principal, params.organizationId)
      return toPage(
        pageOfAll(limits, query, (item) => item.id),
        show,
      )
    },
  }),
  defineRoute({
    method: 'PUT',
    path,
    permission: 'limits:update',
    scope: 'subject',
    summary: 'Set all limits of a subject for a model; what is not given is not limited',
    params: inOrganization,
    body: limitToSet,
    example: { subject: { kind: 'project', id: 'proj_default' }, model: '*', inputTokensPerMinute: 400_000 },
    answer: limit,
    async work({ parts, principal, params: { organizationId }, body: { subject: whose, model: which, ...values } }) {
      const wanted = { organizationId, subject: whose, model: which, ...given(values) }
      return show(await setLimit(parts.accounts, principal, wanted))
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: `${path}/{limitId}`,
    permission: 'limits:update',
    scope: 'organization',
    summary: 'Remove a limit',
    params: inOrganization.extend({ limitId }),
    answer: 'nothing',
    async work({ parts, principal, params: { organizationId, limitId: id } }) {
      await removeLimit(parts.accounts, principal, { id, organizationId })
    },
  }),
]

const standing = z
  .strictObject({
    subject,
    model: z.union([model, z.literal('*')]),
    setBy: z.enum(limitSetters),
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
