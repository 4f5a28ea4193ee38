import type { Generated } from 'kysely'
import type { BudgetPeriod, LimitSetter, LimitSubject } from '../../core/limit.ts'
import type { ApiKeyId, OrganizationId } from '../../core/ids.ts'
import type { budgetFields, ColumnsOf, limitFields } from '../../core/limit-fields.ts'
import type { TierId } from '../../core/tier.ts'

/** The limits of the organizations in a tier, for a model or (`*`) for all of them together. */
export type TierLimitTable = ColumnsOf<typeof limitFields> & { readonly tier: TierId; readonly model: string }

/** A limit that is null does not exist. */
export type LimitTable = ColumnsOf<typeof limitFields> & {
  readonly id: string
  readonly organization_id: OrganizationId
  readonly subject_kind: LimitSubject['kind']
  readonly subject_id: string
  /** A model's id, or `*` for all of them together. */
  readonly model: string
  set_by: LimitSetter
  readonly created_at: number
  updated_at: number
}

export type BudgetTable = ColumnsOf<typeof budgetFields> & {
  readonly id: string
  readonly organization_id: OrganizationId
  readonly subject_kind: LimitSubject['kind']
  readonly subject_id: string
  readonly period: BudgetPeriod
  /** What it has instead, where that is more, until a time. */
  raised_micros_max: number | null
  raised_tokens_max: number | null
  raised_until: number | null
  set_by: LimitSetter
  readonly created_at: number
  updated_at: number
}

/** Written when a period's spending reaches one of the budget's alerts, once for each of them and each period. */
export type BudgetAlertTable = {
  readonly budget_id: string
  readonly period_start: number
  readonly percent: number
  readonly organization_id: OrganizationId
  readonly at: number
  readonly spent_micros: number
  readonly spent_tokens: number
  acknowledged_at: Generated<number | null>
  /** Who took note of it, as the audit names actors. */
  acknowledged_by: Generated<string | null>
}

/** What several gateways share: a bucket's level in parts of a token, or what is spent of a fund. */
export type LimitCounterTable = {
  readonly id: string
  level: number
  at: number
  /** The sequence of the ledger's row up to which a fund has begun with what was spent before. */
  readonly ledger_up_to: Generated<number>
}

/** The part of a counter that a gateway has taken in advance. */
export type LimitLeaseTable = {
  readonly counter_id: string
  readonly gateway_id: string
  amount: number
  expires_at: number
}

/** What is asked for beyond the limits of a key. */
export type LimitRequestTable = {
  readonly id: string
  readonly organization_id: OrganizationId
  readonly api_key_id: ApiKeyId
  /** A model, or `*` for all of them together. */
  readonly model: string
  /** The numbers that are wanted, as JSON. */
  readonly wanted: string
  readonly reason: string
  readonly contact: string | null
  /** Who asked, by the name that the audit has for actors. */
  readonly asked_by: string
  readonly created_at: number
  state: 'open' | 'approved' | 'declined'
  answered_at: number | null
  answered_by: string | null
  answer: string | null
}
