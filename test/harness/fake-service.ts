import type { FastifyInstance } from 'fastify'
import { createApiKey } from '../../src/accounts/api-keys.ts'
import { ensureDefaultHome } from '../../src/accounts/organizations.ts'
import { createLedger } from '../../src/billing/ledger.ts'
import type { Engine } from '../../src/core/engine.ts'
import { modelIds } from '../../src/core/model.ts'
import type { Database } from '../../src/db/database.ts'
import { openSqlite } from '../../src/db/open-sqlite.ts'
import { FakeEngine, type FakeEngineOptions } from '../../src/engines/fake/fake-engine.ts'
import { createApp } from '../../src/http/app.ts'
import { createRequestTracker } from '../../src/http/request-tracker.ts'
import { createCatalog } from '../../src/inference/catalog.ts'
import { describeServedModel } from '../../src/inference/served-models.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createConcurrencyLimiter } from '../../src/limits/concurrency-limiter.ts'
import { createChatCompletionsProtocol } from '../../src/protocols/chat-completions/decode.ts'
import { createMessagesProtocol } from '../../src/protocols/messages/messages-protocol.ts'
import { withAdmission } from '../../src/scheduling/admission.ts'
import type { QueueLimits } from '../../src/scheduling/slot-queue.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { createManualClock, type ManualClock } from './manual-clock.ts'

export type FakeService = {
  readonly app: FastifyInstance
  readonly address: string
  readonly key: string
  readonly db: Database
  readonly engine: Engine
  readonly clock: ManualClock
  close(): Promise<void>
}

/** The whole door over a scripted engine, with a queue or without, a database in memory and a clock that a test moves. */
export async function startFakeService(options: FakeEngineOptions, limits?: QueueLimits): Promise<FakeService> {
  const db = await openSqlite(':memory:')
  const home = await ensureDefaultHome({ db, clock: systemClock })
  const apiKeys = { db, clock: systemClock, hashSecret: new Uint8Array(32) }
  const { key } = await createApiKey(apiKeys, { kind: 'operator' }, { name: 'test', ...home })
  const clock = createManualClock()
  const fake = new FakeEngine(options)
  const engine: Engine = limits === undefined ? fake : withAdmission(fake, { ...limits, clock, random: () => 0.5 })
  const settings = { thinking: 'off', outputTokensMax: 1_000 } as const
  const entries = modelIds.map((id) => ({ model: describeServedModel(id, settings), engine }))
  const app = createApp({
    inference: {
      catalog: createCatalog(entries),
      ledger: createLedger(db),
      limiter: createConcurrencyLimiter(null),
      clock,
    },
    apiKeys,
    chatCompletions: createChatCompletionsProtocol({ systemFingerprint: 'fp_test' }),
    messages: createMessagesProtocol({ signatureKey: new Uint8Array(32) }),
    tracker: createRequestTracker(),
    log: createLog('silent'),
  })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const close = async () => {
    await app.close()
    await db.destroy()
  }
  return { app, address, key, db, engine, clock, close }
}
