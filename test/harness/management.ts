import type { AccountsParts } from '../../src/accounts/parts.ts'
import type { SignInSettings } from '../../src/accounts/sign-in/parts.ts'
import { createGuardedFetch } from '../../src/accounts/single-sign-on/oidc/guarded-fetch.ts'
import { Providers } from '../../src/accounts/single-sign-on/oidc/providers.ts'
import type { SingleSignOn } from '../../src/accounts/single-sign-on/parts.ts'
import type { ManagementParts } from '../../src/http/api/parts.ts'
import { parseAddressList } from '../../src/lib/address-list.ts'
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

/** What a domain's record has to hold for it to be taken for an organization's own. */
export const domainToken = 'x'.repeat(43)

/** Providers of this machine alone can be reached. */
export function createTestSso({ clock }: Pick<AccountsParts, 'clock'>): SingleSignOn {
  const privateAddresses = parseAddressList(['127.0.0.1'])
  if ('fault' in privateAddresses) throw new Error('127.0.0.1 is an address.')
  const fetch = createGuardedFetch({ privateAddresses })
  return {
    providers: new Providers({ fetch, clock, refreshMs: 3_600_000, skewSeconds: 60 }),
    siteUrl: () => 'https://ai.example.com',
    resolveTexts: () => Promise.resolve([`odyssey-domain=${domainToken}`]),
  }
}

export const knownSwap = { id: 'swap', model: 'tycho-1.0', state: 'done', message: '' } as const

/** What the management API of a service without engines stands on. */
export function createTestManagement(accounts: AccountsParts, limits: Limits): ManagementParts {
  return {
    accounts: { ...accounts, currency: 'USD', limitsChanged: (change) => limits.apply(change) },
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
    sso: createTestSso(accounts),
    version: 'test',
    readAnchors: () => Promise.resolve({ valid: [], damagedLines: [] }),
  }
}
