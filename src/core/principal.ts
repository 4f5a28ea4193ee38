import type { ApiKeyId, OrganizationId, ProjectId } from './ids.ts'

/** On whose behalf something happens: an API key of a project, or the machine's operator at the command line. */
export type Principal =
  | {
      readonly kind: 'api-key'
      readonly apiKeyId: ApiKeyId
      readonly organizationId: OrganizationId
      readonly projectId: ProjectId
    }
  | { readonly kind: 'operator' }

export type ApiKeyPrincipal = Extract<Principal, { kind: 'api-key' }>
