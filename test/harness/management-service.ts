import type { FastifyInstance, InjectOptions } from 'fastify'
import { queueEngine } from './engines/queued-engine.ts'
import { createAccessCache } from '../../src/accounts/access/access-cache.ts'
import { ManagementKeyUses } from '../../src/accounts/access/management-key-uses.ts'
import { createManagementKey } from '../../src/accounts/management-keys.ts'
import { ensureDefaultHome } from '../../src/accounts/organizations.ts'
import type { AccountsParts } from '../../src/accounts/parts.ts'
import { createLedger } from '../../src/billing/ledger/ledger.ts'
import { createPriceBook } from '../../src/billing/prices/price-book.ts'
import type { OrganizationId } from '../../src/core/ids.ts'
import { modelIds } from '../../src/core/model.ts'
import type { Role } from '../../src/core/role.ts'
import type { Database } from '../../src/db/database.ts'
import { createDirectLedgerWriter } from '../../src/billing/ledger/writer/insert-rows.ts'
import { FakeEngine } from '../../src/engines/fake/fake-engine.ts'
import type { ManagementParts } from '../../src/http/api/parts.ts'
import { createApp } from '../../src/http/app.ts'
import { createRequestTracker } from '../../src/http/request-tracker.ts'
import { createCatalog } from '../../src/models/catalog.ts'
import { createTokenCounter } from '../../src/inference/count-tokens.ts'
import { createReadSpent } from '../../src/inference/read-spent.ts'
import { describeServedModel } from '../../src/models/served-models.ts'
import { openLimits } from '../../src/limits/open-limits.ts'
import { openFormats } from '../../src/protocols/formats.ts'
import { createLog, type Log } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { noTracing } from '../../src/telemetry/trace.ts'
import { openTestFeed } from './databases/change-feed.ts'
import { createTestManagement } from './management.ts'
import { testBounds } from './bounds.ts'
import { createManualClock, type ManualClock } from './manual-clock.ts'

const operator = { kind: 'operator' } as const

export type Answer = {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
  /** Undefined for what is not JSON. */
  readonly body: Record<string, unknown>
}

export type Ask = {
  readonly method?: InjectOptions['method']
  readonly path: string
  readonly key?: string | undefined
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly address?: string
}

export type ManagementService = {
  readonly app: FastifyInstance
  readonly db: Database
  readonly accounts: AccountsParts
  readonly clock: ManualClock
  /** The owner of the whole installation. */
  readonly key: string
  /** What was noted of uses of management keys; nothing writes it but the test. */
  readonly keyUses: ManagementKeyUses
  createKey(role: Role, organizationId: OrganizationId | null): Promise<string>
  ask(ask: Ask): Promise<Answer>
  close(): Promise<void>
}

/** The door over a database, without a socket: what is asked of the management API needs none. */
export async function openManagementService(
  db: Database,
  overrides: Partial<ManagementParts> = {},
  clock: ManualClock = createManualClock(),
  log: Log = createLog('silent'),
): Promise<ManagementService> {
  const stored = { db, clock, hashSecret: new Uint8Array(32) }
  await ensureDefaultHome(stored)
  const feed = openTestFeed(db, clock)
  const access = createAccessCache({ ...stored, feed, confirmBeforeUseMs: 0, outageMs: 60_000 })
  const keyUses = new ManagementKeyUses(stored)
  const accounts: AccountsParts = {
    ...stored,
    accessChanged: () => access.refresh(),
    managementKeyUsed: (principal, address) => keyUses.note(principal, address),
  }
  const limits = await openLimits({ db, feed, clock, log, readSpent: createReadSpent(db), requestsPerKeyMax: null })
  const settings = { thinking: 'off', outputTokensMax: 1_000 } as const
  const { engine, queue } = queueEngine(new FakeEngine())
  const entries = modelIds.map((id) => ({ model: describeServedModel(id, settings), engine, queue }))
  const catalog = createCatalog(entries)
  const unlimited = { perKeyMinuteMax: null, concurrentPerKeyMax: null }
  const app = createApp({
    counter: createTokenCounter({ catalog, clock, limits: unlimited }),
    inference: {
      catalog,
      ledger: createLedger(createDirectLedgerWriter(db)),
      refusals: { count: () => {} },
      prices: createPriceBook([]),
      limiter: limits,
      clock,
    },
    access,
    bounds: testBounds,
    trustedProxies: [],
    corsOrigins: [],
    formats: openFormats({ signatureKey: new Uint8Array(32), readFingerprint: () => 'fp_test' }),
    signatureKey: new Uint8Array(32),
    tracker: createRequestTracker(),
    log,
    metrics: createMetrics({ version: 'test', readEngines: () => [] }),
    tracing: noTracing,
    management: { ...createTestManagement(accounts, limits), ...overrides },
  })
  const createKey = async (role: Role, organizationId: OrganizationId | null) => {
    const wanted = { name: role, role, organizationId, expiresAtMs: null }
    return (await createManagementKey(accounts, operator, wanted)).key
  }
  const key = await createKey('owner', null)
  const close = async () => {
    await app.close()
    await limits.close()
    await access.close()
    await feed.close()
    await db.destroy()
  }
  return { app, db, accounts, clock, key, keyUses, createKey, ask: (ask) => inject(app, ask), close }
}

async function inject(
  app: FastifyInstance,
  { method = 'GET', path, key, body, headers, address }: Ask,
): Promise<Answer> {
  const response = await app.inject({
    method,
    url: path,
    headers: {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(address !== undefined && { remoteAddress: address }),
  })
  return { status: response.statusCode, headers: response.headers, text: response.body, body: parse(response.body) }
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}
