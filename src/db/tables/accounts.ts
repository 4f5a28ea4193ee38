import type { ApiKeyId, ManagementKeyId, MemberId, OrganizationId, ProjectId } from '../../core/ids.ts'
import type { Role } from '../../core/role.ts'

export type OrganizationTable = {
  readonly id: OrganizationId
  name: string
  readonly created_at: number
  disabled_at: number | null
}

export type ProjectTable = {
  readonly id: ProjectId
  readonly organization_id: OrganizationId
  name: string
  readonly created_at: number
  archived_at: number | null
}

export type MemberTable = {
  readonly id: MemberId
  readonly organization_id: OrganizationId
  /** In small letters; one member at a time has it in an organization. */
  readonly email: string
  name: string
  role: Role
  readonly created_at: number
  removed_at: number | null
}

/** Which projects a developer may see. */
export type ProjectMemberTable = {
  readonly organization_id: OrganizationId
  readonly project_id: ProjectId
  readonly member_id: MemberId
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
  readonly owner_id: MemberId | null
  expires_at: number | null
  disabled_at: number | null
  /** JSON lists; null allows everything. */
  allowed_models: string | null
  allowed_endpoints: string | null
  allowed_addresses: string | null
  /** The key that this one replaces. */
  readonly rotated_from: ApiKeyId | null
  /** The first key of a line of rotations: limits and budgets count under its id. */
  readonly quota_id: ApiKeyId
  /** To the minute. */
  last_used_at: number | null
}

export type ManagementKeyTable = {
  readonly id: ManagementKeyId
  /** Null is the whole installation. */
  readonly organization_id: OrganizationId | null
  readonly name: string
  readonly role: Role
  readonly key_hash: string
  readonly last_four: string
  readonly created_at: number
  readonly expires_at: number | null
  revoked_at: number | null
}

/** One row that counts the changes to who may do what, so that every gateway notices them. */
export type AccessChangeTable = { readonly id: number; count: number }
