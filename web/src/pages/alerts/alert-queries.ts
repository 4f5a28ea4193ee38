import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { readAll } from '../../app/queries.ts'

export type Alert = Schemas['Alert']

export const alertsQuery = (organizationId: string, state: 'open' | 'acknowledged') =>
  queryOptions({
    queryKey: ['alerts', organizationId, state],
    queryFn: ({ signal }) =>
      readAll((after) =>
        api(
          'GET /api/v1/organizations/{organizationId}/alerts',
          { params: { organizationId }, query: { state, limit: 200, ...(after !== undefined && { after }) } },
          { signal },
        ),
      ),
  })
