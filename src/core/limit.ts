import type { ApiKeyId, OrganizationId, ProjectId } from './ids.ts'

/** Whose limit or budget something is. */
export type LimitSubject =
  | { readonly kind: 'organization'; readonly id: OrganizationId }
  | { readonly kind: 'project'; readonly id: ProjectId }
  | { readonly kind: 'api-key'; readonly id: ApiKeyId }

/** How one limit per minute stands. */
export type LimitState = {
  readonly limit: number
  readonly remaining: number
  /** Until all of it is there again, if nothing more is used. */
  readonly fullInMs: number
}

/** The most restrictive limit of each kind that a request is subject to; null where there is none. */
export type LimitSnapshot = {
  readonly requests: LimitState | null
  readonly inputTokens: LimitState | null
  readonly outputTokens: LimitState | null
}

/** The limit that a request met, for the words of its refusal. */
export type ExceededLimit = {
  readonly kind: 'requests' | 'input-tokens' | 'output-tokens'
  readonly model: string
  readonly limit: number
  readonly remaining: number
  readonly requested: number
}
