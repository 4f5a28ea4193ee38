import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, type QueryOf } from '../api/client.ts'
import type { Schemas } from '../api/types.ts'
import type { ModelId } from './models.ts'
import { readAll } from './queries.ts'
import type { ScopeSearch } from './scope-filters.tsx'

type SeriesQuery = QueryOf<'GET /api/v1/organizations/{organizationId}/usage/series'>

/** The sums of usage, by the service alone: nothing of them is added up in the browser. */
export const usageSeriesQuery = (organizationId: string, query: SeriesQuery) =>
  queryOptions({
    queryKey: ['usage', organizationId, 'series', query],
    queryFn: ({ signal }) =>
      api('GET /api/v1/organizations/{organizationId}/usage/series', { params: { organizationId }, query }, { signal }),
    placeholderData: keepPreviousData,
  })

type WholeQuery = Omit<QueryOf<'GET /api/v1/organizations/{organizationId}/usage'>, 'limit' | 'after' | 'bucket'>

/** One sum for each group, however many groups there are. */
export const usageByGroupQuery = (organizationId: string, query: WholeQuery) =>
  queryOptions({
    queryKey: ['usage', organizationId, 'groups', query],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, Schemas['Usage']>> => {
      const rows = await readAll((after) =>
        api(
          'GET /api/v1/organizations/{organizationId}/usage',
          {
            params: { organizationId },
            query: { ...query, bucket: 'whole', limit: 200, ...(after !== undefined && { after }) },
          },
          { signal },
        ),
      )
      return new Map(rows.map((row) => [row.group ?? '', row]))
    },
    placeholderData: keepPreviousData,
  })

/** Whose requests are summed, as the service takes it. */
export function scopeOf({ model, project, key }: ScopeSearch): SeriesQuery {
  return {
    ...(model !== '' && { model: [model as ModelId] }),
    ...(project !== '' && { projectId: [project] }),
    ...(key !== '' && { apiKeyId: [key] }),
  }
}
