import type { Clock } from '../../src/lib/clock.ts'
import { createBucketAllowance } from '../../src/limits/allowances/bucket-allowance.ts'
import { createFundAllowance } from '../../src/limits/allowances/fund-allowance.ts'
import type { BudgetParts } from '../../src/limits/budgets/budget-account.ts'
import { LimitBook } from '../../src/limits/limit-book.ts'
import { createLimiter, type Limiter } from '../../src/limits/limiter.ts'
import type { Budget } from '../../src/limits/settings/budget-settings.ts'
import type { Limit } from '../../src/limits/settings/limit-settings.ts'

export const principal = { kind: 'api-key', apiKeyId: 'key_1', organizationId: 'org_1', projectId: 'proj_1' } as const

/** A limit of the organization for all models, with whatever a test wants different. */
export function limitOf(changes: Partial<Limit>): Limit {
  return {
    id: 'limit_1',
    organizationId: 'org_1',
    subject: { kind: 'organization', id: 'org_1' },
    model: '*',
    inputTokensPerMinute: null,
    outputTokensPerMinute: null,
    requestsPerMinute: null,
    isRequestsEnforced: false,
    concurrency: null,
    cachedReadPercent: 10,
    ...changes,
  }
}

/** A daily budget of the organization. */
export function budgetOf(changes: Partial<Budget>): Budget {
  return {
    id: 'budget_1',
    organizationId: 'org_1',
    subject: { kind: 'organization', id: 'org_1' },
    period: 'day',
    microsMax: null,
    tokensMax: null,
    alertPercent: null,
    ...changes,
  }
}

export type TestLimits = {
  readonly clock: Clock
  readonly limits?: readonly Limit[]
  readonly budgets?: readonly Budget[]
  readonly requestsPerKeyMax?: number
  readonly parts?: Partial<BudgetParts>
}

/** A limiter in memory, without a database. */
export function createTestLimiter(options: TestLimits): { readonly limiter: Limiter; readonly book: LimitBook } {
  const { clock, limits = [], budgets = [], requestsPerKeyMax = null, parts = {} } = options
  const book = new LimitBook({
    clock,
    readSpent: () => Promise.resolve({ micros: 0, tokens: 0 }),
    alert() {},
    openFund: ({ limit, readSpent, isFresh }) => createFundAllowance(limit, isFresh ? null : readSpent),
    openAllowance: (kind, { limit }) =>
      kind === 'concurrency' ? createFundAllowance(limit) : createBucketAllowance(limit, clock),
    ...parts,
  })
  book.update({ limits, budgets })
  return { limiter: createLimiter({ clock, book, requestsPerKeyMax }), book }
}
