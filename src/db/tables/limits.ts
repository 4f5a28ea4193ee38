import type { LimitSubject } from '../../core/limit.ts'
import type { OrganizationId } from '../../core/ids.ts'

/** A limit that is null does not exist. */
export type LimitTable = {
  readonly id: string
  readonly organization_id: OrganizationId
  readonly subject_kind: LimitSubject['kind']
  readonly subject_id: string
  /** A model's id, or `*` for all of them together. */
  readonly model: string
  input_tokens_per_minute: number | null
  output_tokens_per_minute: number | null
  requests_per_minute: number | null
  /** Whether too many requests are refused; they are counted and reported in any case. */
  is_requests_enforced: number
  concurrency: number | null
  /** What a token read from the prompt cache counts of an input token. */
  cached_read_percent: number
  readonly created_at: number
  updated_at: number
}

export type BudgetTable = {
  readonly id: string
  readonly organization_id: OrganizationId
  readonly subject_kind: LimitSubject['kind']
  readonly subject_id: string
  readonly period: 'day' | 'month'
  micros_max: number | null
  tokens_max: number | null
  alert_percent: number | null
  readonly created_at: number
  updated_at: number
}

/** Written when a period's spending reaches the budget's alert, once for each period. */
export type BudgetAlertTable = {
  readonly budget_id: string
  readonly period_start: number
  readonly organization_id: OrganizationId
  readonly at: number
  readonly spent_micros: number
  readonly spent_tokens: number
}

/** One row that counts the changes to limits and budgets, so that every gateway notices them. */
export type LimitChangeTable = { readonly id: number; count: number }

/** What several gateways share: a bucket's level in parts of a token, or what is spent of a fund. */
export type LimitCounterTable = {
  readonly id: string
  level: number
  at: number
}

/** The part of a counter that a gateway has taken in advance. */
export type LimitLeaseTable = {
  readonly counter_id: string
  readonly gateway_id: string
  amount: number
  expires_at: number
}
