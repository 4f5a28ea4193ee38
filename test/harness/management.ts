import { createEndUserHash } from '../../src/billing/attribution/attribute.ts'
import type { AccountsParts } from '../../src/accounts/parts.ts'
import type { SignInSettings } from '../../src/accounts/sign-in/parts.ts'
import { createGuardedFetch } from '../../src/accounts/single-sign-on/oidc/guarded-fetch.ts'
import { Providers } from '../../src/accounts/single-sign-on/oidc/providers.ts'
import type { SingleSignOn } from '../../src/accounts/single-sign-on/parts.ts'
import type { ManagementParts } from '../../src/http/api/parts.ts'
import { parseWeightsSource } from '../../src/models/download/weights-source.ts'
import { recommendWeights } from '../../src/models/jobs/recommended.ts'
import type { WeightsFile } from '../../src/models/jobs/weights-folder.ts'
import type { PoolStatus } from '../../src/http/api/resources/installation/pool-schemas.ts'
import type { Job } from '../../src/models/jobs/weights-jobs.ts'
import { parseAddressList } from '../../src/lib/network/address-list.ts'
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

/** Weights and a job that are known to a service of tests. */
export const knownWeights: WeightsFile = {
  id: 'weights_known',
  name: 'owner/repository/known.gguf',
  path: '/nowhere/known.gguf',
  bytes: 1_000,
  changedAtMs: Date.UTC(2026, 10, 1),
  sha256: null,
  isWhole: true,
}

export const knownJob: Job = {
  id: 'job_known',
  kind: 'fetch',
  model: null,
  source: 'owner/repository/known.gguf',
  sha256: null,
  state: 'under-way',
  phase: 'fetching',
  message: '',
  startedAtMs: Date.UTC(2026, 10, 1),
  endedAtMs: null,
  bytesDone: 10,
  bytesTotal: 1_000,
  bytesPerSecond: 5,
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
    saml: { fetch, refreshMs: 3_600_000, skewSeconds: 60, answerMsMax: 600_000 },
    siteUrl: () => 'https://ai.example.com',
    resolveTexts: () => Promise.resolve([`odyssey-domain=${domainToken}`]),
  }
}

export const knownSwap = { id: 'swap', model: 'tycho-1.0', state: 'done', message: '' } as const

/** A pool of one replica, at the address of the route's own example. */
export const knownPool: PoolStatus = {
  name: 'large',
  models: ['hal-1.0'],
  state: 'ready',
  counts: 'own',
  windowTokens: 8_192,
  waiting: 0,
  retries: 0,
  replicas: [
    {
      address: 'http://10.0.0.4:8000',
      kind: 'vllm',
      state: 'up',
      reason: null,
      running: 0,
      runningMax: 8,
      outstandingTokens: 0,
      roomTokens: 8_192,
      tokensPerSecond: null,
      hitRate: null,
      windowTokens: 8_192,
      version: null,
      missing: [],
      restarts: 0,
    },
  ],
}

/** What the management API of a service without engines stands on. */
export function createTestManagement(accounts: AccountsParts, limits: Limits): ManagementParts {
  return {
    accounts: { ...accounts, currency: 'USD', limitsChanged: (change) => limits.apply(change) },
    recordingKey: new Uint8Array(32).fill(5),
    alertKey: new Uint8Array(32).fill(7),
    mail: { recipientDomains: null },
    // Mail servers are in the tests that are about mail.
    mailer: { send: () => Promise.resolve(), check: () => Promise.resolve() },
    hashEndUser: createEndUserHash(new Uint8Array(32)),
    storedAnswerKey: new Uint8Array(32).fill(5),
    reservedOf: (budgetId) => limits.reservedOf(budgetId),
    readLimitStanding: (principal, model) => limits.readStanding(principal, model),
    readQueues: () => [],
    pools: { list: () => [knownPool], drain: () => {}, roll: () => {} },
    isOperator: ({ headers }) => headers.authorization === `Bearer ${operatorKey}`,
    weights: {
      list: () => [],
      startSwap: () => {},
      findSwap: (id) => (id === knownSwap.id ? knownSwap : null),
    },
    fleet: {
      read: () => ({ files: [], memory: { totalBytes: 16e9, availableBytes: 8e9, weightsBytes: 0 } }),
      files: () => [knownWeights],
      usersOf: () => [],
      deleteFile: () => {},
      recommend: () => recommendWeights(0, { totalBytes: 16e9, availableBytes: 8e9 }),
      isFixed: () => false,
    },
    readSystem: () =>
      Promise.resolve({
        version: 'test',
        startedAtMs: 0,
        database: 'file',
        migrations: { latest: null, waiting: 0 },
        disk: null,
        ledger: { rows: 0, notYetSummed: 0 },
        reconciliation: null,
        lastBackupAtMs: null,
        settings: [{ name: 'host', value: '"127.0.0.1"', from: 'default' }],
        warnings: [],
      }),
    jobs: {
      list: () => [knownJob],
      find: (id) => (id === knownJob.id ? knownJob : null),
      nameOf: (source) => parseWeightsSource(source, 'https://hub.example').name,
      startFetch: () => {},
      startUse: () => {},
      cancel: () => true,
    },
    feed: { subscribe: () => () => {} },
    signIn: testSignIn,
    publicUrl: 'https://ai.example.com',
    siteUrl: () => 'https://ai.example.com',
    arePricesPublic: true,
    sso: createTestSso(accounts),
    version: 'test',
    readAnchors: () => Promise.resolve({ valid: [], damagedLines: [] }),
  }
}
