import type { ApiKeyId, ManagementKeyId, MemberId, OrganizationId, ProjectId } from './ids.ts'
import type { Role } from './role.ts'

export type ApiKeyPrincipal = {
  readonly kind: 'api-key'
  readonly apiKeyId: ApiKeyId
  readonly organizationId: OrganizationId
  readonly projectId: ProjectId
  /** Whose limits and budgets count: a key that replaced another goes on under the first one's id. Absent, its own. */
  readonly quotaId?: ApiKeyId
}

export type MemberPrincipal = {
  readonly kind: 'member'
  readonly memberId: MemberId
  readonly organizationId: OrganizationId
  readonly role: Role
  /** The projects that a developer may see; other roles see all of them. */
  readonly projectIds: readonly ProjectId[]
}

export type ManagementKeyPrincipal = {
  readonly kind: 'management-key'
  readonly managementKeyId: ManagementKeyId
  /** Null is the whole installation. */
  readonly organizationId: OrganizationId | null
  readonly role: Role
}

/** On whose behalf something happens; the operator is whoever has the machine's command line. */
export type Principal = ApiKeyPrincipal | MemberPrincipal | ManagementKeyPrincipal | { readonly kind: 'operator' }
