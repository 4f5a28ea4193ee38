import type { FastifyInstance } from 'fastify'
import { createAccessCache } from '../../src/accounts/access/access-cache.ts'
import { createApiKey } from '../../src/accounts/api-keys.ts'
import { ensureDefaultHome, type Home } from '../../src/accounts/organizations.ts'
import { createRecorder } from '../../src/accounts/recordings/recorder.ts'
import type { AccountsParts } from '../../src/accounts/parts.ts'
import { createLedger } from '../../src/billing/ledger/ledger.ts'
import { createPriceBook, type PriceBook } from '../../src/billing/prices/price-book.ts'
import { createRefusals, type LiveRefusals } from '../../src/billing/refusals/refusals.ts'
import type { Engine } from '../../src/core/engine.ts'
import { modelIds } from '../../src/core/model.ts'
import type { Database } from '../../src/db/database.ts'
import { createDirectLedgerWriter } from '../../src/billing/ledger/writer/insert-rows.ts'
import { openMemoryDatabase } from './databases/memory-database.ts'
import { FakeEngine, type FakeEngineOptions } from '../../src/engines/fake/fake-engine.ts'
import { createApp } from '../../src/http/app.ts'
import type { HttpBounds } from '../../src/http/bounds.ts'
import type { HttpParts } from '../../src/http/parts.ts'
import { createRequestTracker } from '../../src/http/request-tracker.ts'
import { createCatalog } from '../../src/models/catalog.ts'
import { createTokenCounter } from '../../src/inference/count-tokens.ts'
import { createReadSpent } from '../../src/inference/read-spent.ts'
import { watchLedger } from '../../src/inference/settlement.ts'
import { describeServedModel } from '../../src/models/served-models.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { CountLimitValues } from '../../src/limits/count-limits.ts'
import { openLimits, type Limits } from '../../src/limits/open-limits.ts'
import { openFormats } from '../../src/protocols/formats.ts'
import type { QueueLimits } from '../../src/scheduling/slot-queue.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts'
import { noTracing } from '../../src/telemetry/trace.ts'
import { openTestFeed } from './databases/change-feed.ts'
import { createTestManagement } from './management.ts'
import { testBounds } from './bounds.ts'
import { queueEngine, type QueuedEngine } from './engines/queued-engine.ts'
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
  readonly refusals: LiveRefusals
  /** What is changed through these counts in this service at once. */
  readonly accounts: AccountsParts
  readonly home: Home
  close(): Promise<void>
}

export type FakeDoor = Partial<Pick<HttpParts, 'trustedProxies' | 'corsOrigins' | 'log'>> & {
  readonly prices?: PriceBook
  readonly bounds?: Partial<HttpBounds>
  readonly counts?: CountLimitValues
  /** Whether the limits of the tiers are in force, as they are in a fresh installation; otherwise a test sets its own. */
  readonly hasTiers?: boolean
  readonly management?: Partial<HttpParts['management']>
}

const unlimited: CountLimitValues = { perKeyMinuteMax: null, concurrentPerKeyMax: null }

/** The whole door over a scripted engine, with a queue, a database in memory and a clock that a test moves. */
export async function startFakeService(
  options: FakeEngineOptions,
  queueLimits: Partial<QueueLimits> = {},
  {
    trustedProxies = [],
    corsOrigins = [],
    bounds = {},
    counts = unlimited,
    prices,
    hasTiers = false,
    log = createLog('silent'),
    management = {},
  }: FakeDoor = {},
): Promise<FakeService> {
  const db = await openMemoryDatabase()
  const home = await ensureDefaultHome({ db, clock: systemClock })
  if (!hasTiers) await db.deleteFrom('tier_limits').execute()
  const stored = { db, clock: systemClock, hashSecret: new Uint8Array(32) }
  const feed = openTestFeed(db, systemClock)
  const access = createAccessCache({ ...stored, feed, confirmBeforeUseMs: 0, outageMs: 60_000 })
  const accounts = { ...stored, accessChanged: () => access.refresh() }
  const { key } = await createApiKey(stored, { kind: 'operator' }, { name: 'test', ...home })
  const clock = createManualClock()
  const { engine, queue } = queueEngine(new FakeEngine(options), { waitingMax: 1_000, ...queueLimits, clock })
  const settings = { thinking: 'off', outputTokensMax: 1_000 } as const
  const entries = modelIds.map((id) => ({ model: describeServedModel(id, settings), engine, queue }))
  const limits = await openLimits({ db, feed, clock, log, readSpent: createReadSpent(db), requestsPerKeyMax: null })
  const metrics = createMetrics({ version: 'test', readEngines: () => [] })
  const refusals = createRefusals({ db, clock, log, metrics })
  const catalog = createCatalog(entries)
  const recorder = createRecorder({ isEnabled: true, db, key: new Uint8Array(32).fill(5), clock: systemClock, log })
  const parts: HttpParts = {
    counter: createTokenCounter({ catalog, clock, limits: counts }),
    inference: {
      catalog,
      ledger: watchLedger(createLedger(createDirectLedgerWriter(db)), {
        metrics,
        tracing: noTracing,
        clock,
        agreedFirstTokenMs: () => null,
      }),
      refusals,
      prices: prices ?? createPriceBook([]),
      limiter: limits,
      clock,
    },
    recorder,
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
    management: { ...createTestManagement(accounts, limits), ...management },
  }
  const app = createApp(parts)
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const close = async () => {
    await app.close()
    await recorder.close()
    await refusals.close()
    await limits.close()
    await access.close()
    await feed.close()
    await db.destroy()
  }
  return { app, parts, address, key, db, engine, queue, clock, limits, metrics, refusals, accounts, home, close }
}
