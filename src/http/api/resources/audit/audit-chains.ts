import type { z } from 'zod'
import type { OrganizationId } from '../../../../core/ids.ts'
import { installationChain } from '../../../../db/change.ts'
import type { Route } from '../../route.ts'
import { inOrganization, nowhere } from '../../schemas.ts'

/** Where a chain of the audit is reached. */
export type AuditChain = {
  readonly path: `/api/v1/${string}`
  readonly scope: Route['scope']
  readonly params: z.ZodObject
  /** What it tells of, as the summary of a route says it. */
  readonly of: string
}

/** The chains of organizations and that of the installation have the same routes. */
export const auditChains: readonly AuditChain[] = [
  {
    path: '/api/v1/organizations/{organizationId}/audit',
    scope: 'organization',
    params: inOrganization,
    of: 'in an organization',
  },
  { path: '/api/v1/audit', scope: 'installation', params: nowhere, of: 'to the installation itself' },
]

/** Whose chain the parameters of a request name. */
export function chainOf(params: Readonly<Record<string, unknown>>): OrganizationId {
  return (params['organizationId'] ?? installationChain) as OrganizationId
}
