import type { ApiKeyId, OrganizationId, ProjectId } from '../../core/ids.ts'

export type OrganizationTable = { readonly id: OrganizationId; name: string; readonly created_at: number }

export type ProjectTable = {
  readonly id: ProjectId
  readonly organization_id: OrganizationId
  name: string
  readonly created_at: number
}

export type ApiKeyTable = {
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
