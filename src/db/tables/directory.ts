import type {
  DirectoryConflictId,
  DirectoryGroupId,
  DirectoryId,
  DirectoryTokenId,
  MemberId,
  OrganizationId,
} from '../../core/ids.ts'
import type { Role } from '../../core/role.ts'

/** A directory of people that provisions members of one organization by SCIM. */
export type DirectoryTable = {
  readonly id: DirectoryId
  readonly organization_id: OrganizationId
  name: string
  /** Of whom no mapping of groups gives another. */
  default_role: Role
  readonly created_at: number
  /** When it last asked for anything, to the minute. */
  last_seen_at: number | null
}

export type DirectoryTokenTable = {
  readonly id: DirectoryTokenId
  readonly directory_id: DirectoryId
  readonly organization_id: OrganizationId
  readonly token_hash: string
  readonly last_four: string
  /** As the audit names actors. */
  readonly created_by: string
  readonly created_at: number
  expires_at: number | null
  revoked_at: number | null
}

/** What a directory says of a member. It has the member's id, and goes with the member. */
export type DirectoryUserTable = {
  readonly member_id: MemberId
  readonly directory_id: DirectoryId
  readonly organization_id: OrganizationId
  /** Counts up in the directory: pages of lists stay as they are while others are added. */
  readonly position: number
  user_name: string
  /** In small letters, by which one is told from another. */
  user_name_key: string
  external_id: string | null
  /** Whether the directory lets the person in, as 0 or 1. */
  active: number
  /** A JSON object: all else that the directory has said. */
  attributes: string
  version: number
  readonly created_at: number
  changed_at: number
}

export type DirectoryGroupTable = {
  readonly id: DirectoryGroupId
  readonly directory_id: DirectoryId
  readonly organization_id: OrganizationId
  readonly position: number
  display_name: string
  display_name_key: string
  external_id: string | null
  attributes: string
  version: number
  readonly created_at: number
  changed_at: number
}

export type DirectoryGroupMemberTable = {
  readonly group_id: DirectoryGroupId
  readonly member_id: MemberId
  readonly directory_id: DirectoryId
  readonly organization_id: OrganizationId
}

/** What members of a directory's group are here. */
export type DirectoryMappingTable = {
  readonly directory_id: DirectoryId
  readonly organization_id: OrganizationId
  readonly group_name: string
  /** The first one that somebody is in gives the role. */
  readonly position: number
  readonly role: Role
  /** A JSON list of project ids. */
  readonly project_ids: string
}

/** What a directory wanted and was refused. */
export type DirectoryConflictTable = {
  readonly id: DirectoryConflictId
  readonly directory_id: DirectoryId
  readonly organization_id: OrganizationId
  readonly at: number
  readonly method: string
  readonly path: string
  readonly status: number
  readonly detail: string
  readonly request_id: string
}
