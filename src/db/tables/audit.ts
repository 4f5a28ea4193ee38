import type { OrganizationId } from '../../core/ids.ts'

/** Rows of an organization form a chain: each holds the hash of the one before it, so none can change unnoticed. */
export type AuditTable = {
  readonly id: string
  readonly at: number
  readonly organization_id: OrganizationId
  /** The id of an API key, a member or a management key, or `operator` for the machine's command line. */
  readonly actor: string
  readonly action: string
  readonly target: string
  /** JSON of the fields that changed, never with a secret; null where nothing was, or nothing is left. */
  readonly before: string | null
  readonly after: string | null
  /** Where the request came from, as far as there was one. */
  readonly address: string | null
  readonly request_id: string | null
  /** From 1, without a gap. Only a row that was put there by hand has none. */
  readonly sequence: number | null
  readonly previous_hash: string | null
  readonly hash: string | null
}

/** The end of each organization's chain. */
export type AuditChainTable = { readonly organization_id: OrganizationId; sequence: number; hash: string }
