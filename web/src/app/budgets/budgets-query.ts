import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { readAll } from '../queries.ts'

export const budgetsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['budgets', organizationId],
    queryFn: ({ signal }) =>
      readAll((after) =>
        api(
          'GET /api/v1/organizations/{organizationId}/budgets',
          { params: { organizationId }, query: { limit: 200, ...(after !== undefined && { after }) } },
          { signal },
        ),
      ),
    staleTime: 5_000,
  })
