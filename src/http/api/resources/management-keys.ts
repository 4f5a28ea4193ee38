import { z } from 'zod'
import {
  createManagementKey,
  listManagementKeys,
  readManagementKey,
  revokeManagementKey,
  type ManagementKeySummary,
} from '../../../accounts/management-keys.ts'
import type { OrganizationId } from '../../../core/ids.ts'
import { defineRoute, type Route } from '../route.ts'
import {
  givenTime,
  inOrganization,
  managementKeyId,
  name,
  nowhere,
  organizationId,
  pageOf,
  pageQuery,
  role,
  time,
  toPage,
  toPageRequest,
  toTime,
  toTimeOrNull,
} from '../schemas.ts'

const managementKey = z
  .strictObject({
    id: managementKeyId,
    organizationId: organizationId.nullable().describe('Null is the whole installation.'),
    name: z.string(),
    role,
    lastFour: z.string(),
    createdAt: time,
    expiresAt: time.nullable(),
    revokedAt: time.nullable(),
    isSuspended: z.boolean().describe('Whether it is refused because whoever made it is suspended.'),
  })
  .meta({ id: 'ManagementKey' })

const created = z
  .strictObject({ managementKey, key: z.string().describe('The key itself. It is shown only now.') })
  .meta({ id: 'CreatedManagementKey' })

const newManagementKey = z
  .strictObject({ name, role, expiresAt: givenTime.nullable().default(null) })
  .meta({ id: 'NewManagementKey' })

function show({ createdAtMs, expiresAtMs, revokedAtMs, ...rest }: ManagementKeySummary): z.input<typeof managementKey> {
  const [expiresAt, revokedAt] = [toTimeOrNull(expiresAtMs), toTimeOrNull(revokedAtMs)]
  return { ...rest, createdAt: toTime(createdAtMs), expiresAt, revokedAt }
}

const example = { name: 'Terraform', role: 'admin' }

export const managementKeyRoutes: readonly Route[] = [
  ...routesAt({
    path: '/api/v1/organizations/{organizationId}/management-keys',
    scope: 'organization',
    params: inOrganization,
    of: 'of an organization',
  }),
  ...routesAt({
    path: '/api/v1/management-keys',
    scope: 'installation',
    params: nowhere,
    of: 'of the installation',
  }),
]

type Variant = {
  readonly path: `/api/v1/${string}`
  readonly scope: 'organization' | 'installation'
  readonly params: z.ZodObject
  readonly of: string
}

/** The same for the keys of an organization and those of the whole installation. */
function routesAt({ path, scope, params, of }: Variant): readonly Route[] {
  const read = (values: Record<string, unknown>) => ({
    organizationId: (values['organizationId'] ?? null) as OrganizationId | null,
    id: values['managementKeyId'] as string,
  })
  return [
    defineRoute({
      method: 'GET',
      path,
      permission: 'management-keys:read',
      scope,
      summary: `List the management keys ${of}`,
      params,
      query: pageQuery,
      answer: pageOf(managementKey),
      async work({ parts, principal, params: values, query }) {
        const request = { organizationId: read(values).organizationId, ...toPageRequest(query) }
        return toPage(await listManagementKeys(parts.accounts, principal, request), show)
      },
    }),
    defineRoute({
      method: 'POST',
      path,
      permission: 'management-keys:create',
      scope,
      needsProof: true,
      summary: `Make a management key ${of}. The answer is the only place where it is shown`,
      params,
      body: newManagementKey,
      example,
      answer: created,
      async work({ parts, principal, params: values, body: { expiresAt, ...wanted } }) {
        const place = { organizationId: read(values).organizationId }
        const expiresAtMs = expiresAt === null ? null : Date.parse(expiresAt)
        const { id, key } = await createManagementKey(parts.accounts, principal, { ...place, ...wanted, expiresAtMs })
        return { managementKey: show(await readManagementKey(parts.accounts, principal, { id, ...place })), key }
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${path}/{managementKeyId}/revoke`,
      permission: 'management-keys:revoke',
      scope,
      summary: `End a management key ${of} for good`,
      params: params.extend({ managementKeyId }),
      answer: managementKey,
      async work({ parts, principal, params: values }) {
        await revokeManagementKey(parts.accounts, principal, read(values))
        return show(await readManagementKey(parts.accounts, principal, read(values)))
      },
    }),
  ]
}
