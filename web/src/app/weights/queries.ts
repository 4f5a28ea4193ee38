import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'

export type LoadedFile = Schemas['LoadedFile']
export type WeightsFile = Schemas['WeightsFile']
export type Recommended = Schemas['RecommendedWeights']
export type Job = Schemas['WeightsJob']

/** What engines do changes without a change of anything that is stored, so it is read again while it is looked at. */
const everyMs = 2_000

export const fleetQuery = queryOptions({
  queryKey: ['fleet'],
  queryFn: ({ signal }) => api('GET /api/v1/installation/models', {}, { signal }),
  refetchInterval: everyMs,
})

export const jobsQuery = queryOptions({
  queryKey: ['weights-jobs'],
  queryFn: ({ signal }) => api('GET /api/v1/installation/jobs', {}, { signal }).then(({ data }) => data),
  refetchInterval: everyMs,
})

export const weightsQuery = queryOptions({
  queryKey: ['weights-files'],
  queryFn: ({ signal }) => api('GET /api/v1/installation/weights', {}, { signal }).then(({ data }) => data),
})

export const recommendedQuery = queryOptions({
  queryKey: ['weights-recommended'],
  queryFn: ({ signal }) => api('GET /api/v1/installation/weights/recommended', {}, { signal }).then(({ data }) => data),
})

/** What a change of weights makes stale. */
export const touched = [['fleet'], ['weights-jobs'], ['weights-files'], ['weights-recommended']] as const
