import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'

export type Connection = Schemas['Connection']

export const connectionsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['connections', organizationId],
    queryFn: ({ signal }) =>
      api('GET /api/v1/organizations/{organizationId}/connections', { params: { organizationId } }, { signal }),
  })

export const domainsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['domains', organizationId],
    queryFn: ({ signal }) =>
      api('GET /api/v1/organizations/{organizationId}/domains', { params: { organizationId } }, { signal }),
  })

export const directoriesQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['directories', organizationId],
    queryFn: ({ signal }) =>
      api('GET /api/v1/organizations/{organizationId}/directories', { params: { organizationId } }, { signal }),
  })
