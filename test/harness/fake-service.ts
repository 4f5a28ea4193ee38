import type { FastifyInstance } from 'fastify'
import { createAccessCache } from '../../src/accounts/access/access-cache.ts'
import { createApiKey } from '../../src/accounts/api-keys.ts'
import { ensureDefaultHome, type Home } from '../../src/accounts/organizations.ts'
import type { AccountsParts } from '../../src/accounts/parts.ts'
import { createLedger } from '../../src/billing/ledger/ledger.ts'
import { createPriceBook } from '../../src/billing/prices/price-book.ts'
import type { Engine } from '../../src/core/engine.ts'
import { modelIds } from '../../src/core/model.ts'
import type { Database } from '../../src/db/database.ts'
import { createDirectRowWriter } from '../../src/billing/ledger/write-ahead/insert-rows.ts'
import { openSqlite } from '../../src/db/open-sqlite.ts'
import { FakeEngine, type FakeEngineOptions } from '../../src/engines/fake/fake-engine.ts'
import { createApp } from '../../src/http/app.ts'
import type { HttpBounds } from '../../src/http/bounds.ts'
import type { HttpParts } from '../../src/http/parts.ts'
import { createRequestTracker } from '../../src/http/request-tracker.ts'
import { createCatalog } from '../../src/models/catalog.ts'
import { createReadSpent } from '../../src/inference/read-spent.ts'
import { watchLedger } from '../../src/inference/watched-ledger.ts'
import { describeServedModel } from '../../src/models/served-models.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { openLimits, type Limits } from '../../src/limits/open-limits.ts'
import { openFormats } from '../../src/protocols/formats.ts'
import type { QueueLimits } from '../../src/scheduling/slot-queue.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts'
import { noTracing } from '../../src/telemetry/trace.ts'
import { createTestManagement } from './management.ts'
import { testBounds } from './bounds.ts'
import { queueEngine, type QueuedEngine } from './queued-engine.ts'
import { createManualClock, type ManualClock } from './manual-clock.ts'

export type FakeService = {
  readonly app: FastifyInstance
  /** What the door is made of. */
  readonly parts: HttpParts
  readonly address: string
  readonly key: string
  readonly db: Database
  readonly engine: Engine
  readonly queue: QueuedEngine['queue']
  readonly clock: ManualClock
  readonly limits: Limits
  readonly metrics: Metrics
  /** What is changed through these counts in this service at once. */
  readonly accounts: AccountsParts
  readonly home: Home
  close(): Promise<void>
}

type FakeDoor = Partial<Pick<HttpParts, 'trustedProxies' | 'corsOrigins'>> & {
  readonly bounds?: Partial<HttpBounds>
}

/** The whole door over a scripted engine, with a queue, a database in memory and a clock that a test moves. */
export async function startFakeService(
  options: FakeEngineOptions,
  queueLimits: Partial<QueueLimits> = {},
  { trustedProxies = [], corsOrigins = [], bounds = {} }: FakeDoor = {},
): Promise<FakeService> {
  const db = await openSqlite(':memory:')
  const home = await ensureDefaultHome({ db, clock: systemClock })
  const apiKeys = { db, clock: systemClock, hashSecret: new Uint8Array(32) }
  const access = createAccessCache({ ...apiKeys, confirmMs: 1_000, confirmBeforeUseMs: 0, outageMs: 60_000 })
  const accounts = { ...apiKeys, accessChanged: () => access.refresh() }
  const { key } = await createApiKey(apiKeys, { kind: 'operator' }, { name: 'test', ...home })
  const clock = createManualClock()
  const { engine, queue } = queueEngine(new FakeEngine(options), { waitingMax: 1_000, ...queueLimits, clock })
  const settings = { thinking: 'off', outputTokensMax: 1_000 } as const
  const entries = modelIds.map((id) => ({ model: describeServedModel(id, settings), engine, queue }))
  const log = createLog('silent')
  const limits = await openLimits({ db, clock, log, readSpent: createReadSpent(db), requestsPerKeyMax: null })
  const metrics = createMetrics({ version: 'test', readEngines: () => [] })
  const parts: HttpParts = {
    inference: {
      catalog: createCatalog(entries),
      ledger: watchLedger(createLedger(createDirectRowWriter(db)), { metrics, tracing: noTracing, clock }),
      prices: createPriceBook([]),
      limiter: limits,
      clock,
    },
    access,
    bounds: { ...testBounds, ...bounds },
    trustedProxies,
    corsOrigins,
    formats: openFormats({ signatureKey: new Uint8Array(32), readFingerprint: () => 'fp_test' }),
    signatureKey: new Uint8Array(32),
    tracker: createRequestTracker(),
    log,
    metrics,
    tracing: noTracing,
    management: createTestManagement(accounts, limits),
  }
  const app = createApp(parts)
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const close = async () => {
    await app.close()
    await limits.close()
    await access.close()
    await db.destroy()
  }
  return { app, parts, address, key, db, engine, queue, clock, limits, metrics, accounts, home, close }
}
