import type { CacheReport } from '../../core/generation.ts'
import type { ApiKeyId, OrganizationId, ProjectId, RequestId } from '../../core/ids.ts'

/** One row per request, written once and never changed. */
export type LedgerTable = {
  readonly request_id: RequestId
  readonly at: number
  readonly organization_id: OrganizationId
  readonly project_id: ProjectId
  readonly api_key_id: ApiKeyId
  readonly model: string
  readonly outcome: 'finished' | 'aborted' | 'failed'
  /** Why a finished generation ended, or the error code of a failed one. */
  readonly reason: string | null
  readonly input_uncached: number
  readonly input_cache_read: number
  readonly input_cache_write: number
  readonly output: number
  readonly output_thinking: number
  /** From admission to the first event, null when there was none. */
  readonly first_event_ms: number | null
  readonly duration_ms: number
  readonly cache_source: CacheReport['source'] | null
  /** The first token that differs from the nearest prompt held, and the part of the request it belongs to. */
  readonly cache_differs_at: number | null
  readonly cache_differs_in: string | null
}
