import type { CacheReport } from '../core/generation.ts'
import type { ApiKeyId, OrganizationId, ProjectId, RequestId } from '../core/ids.ts'

/** Times are milliseconds since 1970, UTC. */
export type Tables = {
  organizations: { readonly id: OrganizationId; name: string; readonly created_at: number }
  projects: {
    readonly id: ProjectId
    readonly organization_id: OrganizationId
    name: string
    readonly created_at: number
  }
  api_keys: ApiKeyTable
  audit: AuditTable
  ledger: LedgerTable
}

type ApiKeyTable = {
  readonly id: ApiKeyId
  readonly organization_id: OrganizationId
  readonly project_id: ProjectId
  name: string
  /** HMAC-SHA-256 of the key under the install's secret, in hexadecimal. The key itself is stored nowhere. */
  readonly key_hash: string
  /** The last four characters, so that people can tell their keys apart. */
  readonly last_four: string
  readonly created_at: number
  revoked_at: number | null
}

type AuditTable = {
  readonly id: string
  readonly at: number
  readonly organization_id: OrganizationId
  /** An API key's id, or `operator` for the machine's command line. */
  readonly actor: string
  readonly action: string
  readonly target: string
}

/** One row per request, written once and never changed. */
type LedgerTable = {
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
