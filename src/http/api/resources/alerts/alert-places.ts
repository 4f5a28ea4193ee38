import { inOrganization, nowhere } from '../../schemas.ts'

/** Organizations have channels and silences, and the installation has its own. */
export const alertPlaces = [
  {
    path: '/api/v1/organizations/{organizationId}',
    scope: 'organization',
    params: inOrganization,
    of: 'an organization',
  },
  { path: '/api/v1', scope: 'installation', params: nowhere, of: 'the installation itself' },
] as const

export type AlertPlace = (typeof alertPlaces)[number]
