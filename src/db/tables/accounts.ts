import type { Generated } from 'kysely'
import type { AttributionRules } from '../../core/principal.ts'
import type {
  ApiKeyId,
  ManagementKeyId,
  MemberId,
  OrganizationId,
  ProjectId,
  RequestId,
  RoleId,
  ServiceAccountId,
  UserId,
} from '../../core/ids.ts'
import type { Priority } from '../../core/tier.ts'
import type { Role } from '../../core/role.ts'
import type { TierId } from '../../core/tier.ts'

export type OrganizationTable = {
  readonly id: OrganizationId
  name: string
  readonly created_at: number
  disabled_at: number | null
  tier: Generated<TierId>
  /** Whom its members ask for higher limits. */
  contact: string | null
  /** How many days a key of its lasts at most; null sets no end. */
  key_days_max: number | null
  /** What is kept of whom its requests are for. */
  end_users: Generated<AttributionRules['endUsers']>
  /** A JSON list of the keys of metadata that are kept as tags. */
  tag_keys: Generated<string>
  /** How soon its requests have their turn; null is the standard. */
  priority: Priority | null
}

export type ProjectTable = {
  readonly id: ProjectId
  readonly organization_id: OrganizationId
  name: string
  readonly created_at: number
  archived_at: number | null
  /** Whose new keys may be in it. */
  key_owners: Generated<KeyOwners>
  /** Until when what is said under its keys is kept; null or past, nothing is. */
  recorded_until: number | null
  /** How many days that is kept. */
  recording_days: Generated<number>
}

/** What was said in a request, or why it was not kept. */
export type RecordingTable = {
  readonly request_id: RequestId
  readonly organization_id: OrganizationId
  readonly project_id: ProjectId
  readonly at: number
  /** From then on it is nobody's, and soon gone. */
  readonly ends_at: number
  readonly state: RecordingState
  /** What the content takes. */
  readonly bytes: number
  /** Sealed; null where it was not kept. */
  readonly content: string | null
}

export const recordingStates = ['kept', 'too-large', 'no-room'] as const
export type RecordingState = (typeof recordingStates)[number]

export const keyOwners = ['anyone', 'service-accounts'] as const
export type KeyOwners = (typeof keyOwners)[number]

/** An account of a program, in a project. */
export type ServiceAccountTable = {
  readonly id: ServiceAccountId
  readonly organization_id: OrganizationId
  readonly project_id: ProjectId
  name: string
  readonly created_at: number
  /** As the audit names actors. */
  readonly created_by: string
  disabled_at: number | null
  removed_at: number | null
}

export type MemberTable = {
  readonly id: MemberId
  readonly organization_id: OrganizationId
  /** In small letters; one member at a time has it in an organization. A directory may change those it has made. */
  email: string
  name: string
  role: Role
  /** The organization's own role that leaves a part of it; null where it is whole. */
  role_id: Generated<RoleId | null>
  readonly created_at: number
  removed_at: number | null
  /** The person who signs in as this member; null until somebody does. */
  user_id: UserId | null
  /** While this is set the member is let in nowhere. */
  suspended_at: number | null
  suspended_by: 'manual' | 'scim' | null
  /** How the member came to be. */
  readonly source: 'manual' | 'invite' | 'sso' | 'scim'
}

/** A part of a built-in role, under a name of an organization's own. */
export type RoleTable = {
  readonly id: RoleId
  readonly organization_id: OrganizationId
  name: string
  /** The built-in role of which it is a part. */
  readonly base: Role
  /** A JSON list. */
  permissions: string
  readonly created_at: number
}

/** Which projects a developer may see. */
export type ProjectMemberTable = {
  readonly organization_id: OrganizationId
  readonly project_id: ProjectId
  readonly member_id: MemberId
}

/** Under a key of the one kind its owner's questions in the dashboard count, under the other what their coding agents ask. */
export const secretlessKinds = ['playground', 'agent'] as const
export type SecretlessKind = (typeof secretlessKinds)[number]

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
  /** How soon its requests have their turn; null is as soon as its organization's. */
  priority: Priority | null
  /** The key that this one replaces. */
  readonly rotated_from: ApiKeyId | null
  /** The first key of a line of rotations: limits and budgets count under its id. */
  readonly quota_id: ApiKeyId
  /** To the minute. */
  last_used_at: number | null
  /** Who made it, as the audit names actors; null for keys older than this column. */
  readonly created_by: string | null
  /** The member or account with whose suspension the key was disabled, and with whose restoration it comes back. */
  suspended_by: MemberId | ServiceAccountId | null
  /** The program whose key it is; then it is no member’s. */
  readonly service_account_id: ServiceAccountId | null
  /** What has no secret and whose owner is let in under it by other means; null for what is shown itself. */
  readonly kind: SecretlessKind | null
}

/** A network that a key was used from, for as long as it was within the last months. */
export type KeyNetworkTable = {
  readonly api_key_id: ApiKeyId
  /** In CIDR notation; empty stands for those that were forgotten. */
  readonly network: string
  readonly organization_id: OrganizationId
  readonly first_used_at: number
  /** To the day. */
  last_used_at: number
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
  /** Who made it, as the audit names actors; null for keys older than this column. */
  readonly created_by: string | null
  /** The member whose suspension keeps the key out of use: it was made by them, or by a key that was. */
  suspended_by: MemberId | null
}

/** What was made of a thing of another gateway. */
export type ImportTable = {
  /** The kind of gateway. */
  readonly source: 'litellm'
  /** `rest` is the project of those keys that were in none. */
  readonly kind: 'organization' | 'team' | 'project' | 'rest' | 'key'
  /** The id there; of a key, its hash here. */
  readonly source_id: string
  readonly target_id: string
  readonly at: number
}
