import type {
  ApiKeyId,
  DirectoryId,
  ManagementKeyId,
  MemberId,
  OrganizationId,
  ProjectId,
  RoleId,
  UserId,
} from './ids.ts'
import type { Priority } from './tier.ts'
import type { Role } from './role.ts'

/** Whether end users are kept as clients name them, as hashes, or not at all. */
export const endUserRules = ['plain', 'hashed', 'off'] as const

/** What an organization lets be kept of that. */
export type AttributionRules = {
  readonly endUsers: (typeof endUserRules)[number]
  /** The keys of metadata that are kept as tags. */
  readonly tagKeys: readonly string[]
}

/** Until when what is said under a key is kept, and for how many days. */
export type RecordingRules = { readonly untilMs: number; readonly days: number }

export type ApiKeyPrincipal = {
  readonly kind: 'api-key'
  readonly apiKeyId: ApiKeyId
  readonly organizationId: OrganizationId
  readonly projectId: ProjectId
  /** The key whose limits and budgets count: one that replaced another goes on under the first one's id. Absent, its own. */
  readonly quotaId?: ApiKeyId
  /** What its organization lets be kept of whom requests are for. Absent, nothing. */
  readonly attribution?: AttributionRules
  /** Absent, nothing of what is said is kept. */
  readonly recorded?: RecordingRules
  /** How soon its requests have their turn; absent, as those of others. */
  readonly priority?: Priority
}

export type MemberPrincipal = {
  readonly kind: 'member'
  readonly memberId: MemberId
  readonly organizationId: OrganizationId
  readonly role: Role
  /** The projects that a developer may see; other roles see all of them. */
  readonly projectIds: readonly ProjectId[]
  /** What a role of the organization's own leaves of the role, as `permission.ts` has it; absent where it is whole. */
  readonly custom?: CustomRole
}

/** A part of a built-in role, under a name of the organization's own. */
export type CustomRole = { readonly id: RoleId; readonly permissions: readonly string[] }

export type ManagementKeyPrincipal = {
  readonly kind: 'management-key'
  readonly managementKeyId: ManagementKeyId
  /** Null is the whole installation. */
  readonly organizationId: OrganizationId | null
  readonly role: Role
}

/** Somebody who is signed in, in the installation as a whole. */
export type UserPrincipal = {
  readonly kind: 'user'
  readonly userId: UserId
  readonly organizationId: null
  /** Null may do nothing but to the person's own account. */
  readonly role: Role | null
}

/** A directory that tells who the members of its organization are. It may do that and nothing that needs a permission. */
export type DirectoryPrincipal = {
  readonly kind: 'directory'
  readonly directoryId: DirectoryId
  readonly organizationId: OrganizationId
  readonly role: null
}

/** On whose behalf something happens; the operator is whoever has the machine's command line. */
export type Principal =
  | ApiKeyPrincipal
  | MemberPrincipal
  | UserPrincipal
  | ManagementKeyPrincipal
  | DirectoryPrincipal
  | { readonly kind: 'operator' }
  /** Whoever asks for what anybody may ask for, such as to be signed in. */
  | { readonly kind: 'anonymous'; readonly organizationId: null; readonly role: null }
