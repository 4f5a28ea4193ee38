import { inOrganization, nowhere } from '../../schemas.ts'

/** Organizations have channels and silences, and the installation has its own. */
export const alertScopes = [
  {
    path: '/api/v1/organizations/{organizationId}',
    scope: 'organization',
    params: inOrganization,
    of: 'an organization',
  },
  { path: '/api/v1', scope: 'installation', params: nowhere, of: 'the installation itself' },
] as const

export type AlertScope = (typeof alertScopes)[number]
