import type { ApiKeyId, OrganizationId, ProjectId } from './ids.ts'

/** The organization, project or key that a limit or budget belongs to. */
export type LimitSubject =
  | { readonly kind: 'organization'; readonly id: OrganizationId }
  | { readonly kind: 'project'; readonly id: ProjectId }
  | { readonly kind: 'api-key'; readonly id: ApiKeyId }

/** The periods of budgets, by UTC's calendar. */
export const budgetPeriods = ['day', 'week', 'month', 'year', 'lifetime'] as const
export type BudgetPeriod = (typeof budgetPeriods)[number]

/** Who set a limit: whoever runs the installation, or the organization for itself. */
export const limitSetters = ['installation', 'organization'] as const
export type LimitSetter = (typeof limitSetters)[number]

/** The state of one limit per minute. */
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
