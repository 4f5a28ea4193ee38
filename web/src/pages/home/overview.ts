import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'

export type Overview = Schemas['Overview']

/** All that the page shows of a moment, in one answer, so that its figures are of the same moment. */
export const overviewQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['overview', organizationId],
    queryFn: ({ signal }) =>
      api('GET /api/v1/organizations/{organizationId}/overview', { params: { organizationId } }, { signal }),
    staleTime: 1_000,
  })
