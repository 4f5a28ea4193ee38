import type { Clock } from '../../../src/lib/clock.ts'
import type { BudgetParts } from '../../../src/limits/budgets/budget-account.ts'
import { LimitBook } from '../../../src/limits/limit-book.ts'
import { inMemory } from '../../../src/limits/open-limits.ts'
import { createLimiter, type Limiter } from '../../../src/limits/limiter.ts'
import type { Budget, Limit, Tiers } from '../../../src/limits/settings/setting.ts'

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
    setBy: 'installation',
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
    alertPercents: [],
    setBy: 'installation',
    raise: null,
    ...changes,
  }
}

export const noTiers: Tiers = { limits: [], tierOf: new Map() }

export type TestLimits = {
  readonly clock: Clock
  readonly limits?: readonly Limit[]
  readonly budgets?: readonly Budget[]
  readonly tiers?: Tiers
  readonly requestsPerKeyMax?: number
  readonly parts?: Partial<BudgetParts>
}

/** A limiter in memory, without a database. */
export function createTestLimiter(options: TestLimits): { readonly limiter: Limiter; readonly book: LimitBook } {
  const { clock, limits = [], budgets = [], tiers = noTiers, requestsPerKeyMax = null, parts = {} } = options
  const book = new LimitBook({
    clock,
    readSpent: () => Promise.resolve({ sum: { micros: 0, tokens: 0 }, upTo: 0 }),
    alert() {},
    ...inMemory(clock),
    ...parts,
  })
  book.update({ limits, budgets, tiers })
  return { limiter: createLimiter({ clock, book, requestsPerKeyMax }), book }
}
