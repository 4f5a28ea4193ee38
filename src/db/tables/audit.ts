import type { Generated } from 'kysely'
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

/** The Merkle tree over an organization's chain: leaf n is the hash of row n, counted from 0. */
export type AuditLogTable = {
  readonly organization_id: OrganizationId
  /** The name under which its roots are signed, for good; null until the first one is. */
  origin: string | null
  /** The leaves that stand in tiles. */
  size: number
  /** The rows up to here are to be deleted, as a row of the audit says. */
  delete_to: Generated<number>
  /** The rows up to here are deleted. */
  deleted_to: Generated<number>
}

/** The hashes of 256 rows that were deleted, fewer in the last one. */
export type AuditRowHashTable = {
  readonly organization_id: OrganizationId
  readonly number: number
  /** In base64, 32 bytes each. */
  hashes: string
}

/** 256 hashes side by side, fewer in the last tile of a level. A hash of level L stands for 256^L leaves. */
export type AuditTileTable = {
  readonly organization_id: OrganizationId
  readonly level: number
  readonly number: number
  /** In base64, 32 bytes each. */
  hashes: string
}

/** The signed root of the first `size` rows. */
export type AuditCheckpointTable = {
  readonly organization_id: OrganizationId
  readonly size: number
  readonly at: number
  readonly note: string
}

/** What a witness has put under the checkpoint of `size` rows. */
export type AuditCosignatureTable = {
  readonly organization_id: OrganizationId
  readonly size: number
  /** The name of the witness. */
  readonly witness: string
  readonly at: number
  /** The line of the note, with its newline. */
  line: string
}

/** The keys that sign, the first with number 1. */
export type AuditKeyTable = {
  readonly number: number
  /** In base64. */
  readonly public_key: string
  readonly created_at: number
}
