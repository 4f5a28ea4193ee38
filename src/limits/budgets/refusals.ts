import { ApiError } from '../../core/error.ts'
import type { LimitSubject } from '../../core/limit.ts'
import type { BudgetAccount } from './budget-account.ts'

const subjects: Readonly<Record<LimitSubject['kind'], string>> = {
  organization: 'organization',
  project: 'project',
  'api-key': 'API key',
}

export function budgetExceeded(account: BudgetAccount | undefined): ApiError {
  const words =
    account === undefined
      ? 'The budget is used up.'
      : `The ${account.budget.period === 'day' ? 'daily' : 'monthly'} budget of this ` +
        `${subjects[account.budget.subject.kind]} is used up, or too little is left of it for this request. ` +
        `The next one begins at ${new Date(account.endMs()).toISOString().replace('.000Z', 'Z')}.`
  return new ApiError({ code: 'budget-exceeded' }, words)
}

/** It may all be there again in a moment, so coming back is worth it. */
export function budgetReserved(): ApiError {
  return new ApiError(
    { code: 'rate-limited', retryAfterMs: 1_000 },
    'What is left of the budget is reserved by requests under way. Please try again when they have ended.',
  )
}
