import type { AccountsParts } from '../../src/accounts/parts.ts'
import type { SignInSettings } from '../../src/accounts/sign-in/parts.ts'
import type { ManagementParts } from '../../src/http/api/parts.ts'
import type { Limits } from '../../src/limits/open-limits.ts'

/** Makes a request of a test one of this machine's command line. */
export const operatorKey = 'of the operator of this machine'

export const testSignIn: SignInSettings = {
  passwords: 'optional',
  idleMs: 1_800_000,
  sessionMsMax: 43_200_000,
  sessionsPerUserMax: 20,
  recentMs: 600_000,
  sealKey: new Uint8Array(32).fill(6),
}

export const knownSwap = { id: 'swap', model: 'tycho-1.0', state: 'done', message: '' } as const

/** What the management API of a service without engines stands on. */
export function createTestManagement(accounts: AccountsParts, limits: Limits): ManagementParts {
  return {
    accounts: { ...accounts, currency: 'USD', limitsChanged: (change) => limits.apply(change) },
    alertKey: new Uint8Array(32).fill(7),
    storedAnswerKey: new Uint8Array(32).fill(5),
    reservedOf: (budgetId) => limits.reservedOf(budgetId),
    readLimitStanding: (principal, model) => limits.readStanding(principal, model),
    readQueues: () => [],
    isOperator: ({ headers }) => headers.authorization === `Bearer ${operatorKey}`,
    weights: {
      list: () => [],
      startSwap: () => {},
      findSwap: (id) => (id === knownSwap.id ? knownSwap : null),
    },
    feed: { subscribe: () => () => {} },
    signIn: testSignIn,
    publicUrl: 'https://ai.example.com',
    siteUrl: () => 'https://ai.example.com',
    version: 'test',
    readAnchors: () => Promise.resolve({ valid: [], damagedLines: [] }),
  }
}
