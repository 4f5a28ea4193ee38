import type { OrganizationId } from '../../core/ids.ts'
import type { BudgetValues, LimitValues } from '../../core/limit-fields.ts'
import type { BudgetPeriod, LimitSetter, LimitSubject } from '../../core/limit.ts'
import type { ModelId } from '../../core/model.ts'
import type { TierId } from '../../core/tier.ts'

/** Whose limit or budget something is. */
export type SubjectReference = { readonly organizationId: OrganizationId; readonly subject: LimitSubject }

/** To what a limit applies: to an organization, a project or a key, with one model or (`*`) with all together. */
export type LimitScope = SubjectReference & { readonly model: ModelId | '*' }
export type Limit = LimitScope & LimitValues & { readonly id: string; readonly setBy: LimitSetter }

export type BudgetScope = SubjectReference & { readonly period: BudgetPeriod }
export type Budget = BudgetScope &
  BudgetValues & { readonly id: string; readonly setBy: LimitSetter; readonly raise: BudgetRaise | null }

/** What a budget has instead until a time; null where it has what it always has. */
export type BudgetRaise = {
  readonly microsMax: number | null
  readonly tokensMax: number | null
  readonly untilMs: number
}

/** What a budget has by its raise, of which the larger value counts; null where it does not limit it. */
export function raisedMax(budget: Omit<BudgetRaise, 'untilMs'> & Pick<Budget, 'raise'>, name: MaxName): number | null {
  const { [name]: max, raise } = budget
  return max === null ? null : Math.max(max, raise?.[name] ?? 0)
}

/** What a budget has of it at a moment, by its raise while that lasts; null where it does not limit it. */
export function maxInForce(budget: Budget, name: MaxName, atMs: number): number | null {
  return budget.raise !== null && atMs < budget.raise.untilMs ? raisedMax(budget, name) : budget[name]
}

type MaxName = 'microsMax' | 'tokensMax'

/** The limits that the organizations of a tier have with a model or (`*`) with all together. */
export type TierLimit = LimitValues & { readonly tier: TierId; readonly model: ModelId | '*' }

/** The plans, and who is in which: an organization that is not named is in the first tier. */
export type Tiers = { readonly limits: readonly TierLimit[]; readonly tierOf: ReadonlyMap<OrganizationId, TierId> }

/** All that is in force. */
export type LimitSettings = {
  readonly limits: readonly Limit[]
  readonly budgets: readonly Budget[]
  readonly tiers: Tiers
}
