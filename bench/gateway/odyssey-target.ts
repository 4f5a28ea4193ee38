// Odyssey as `odyssey serve` joins it, on a scripted engine: a SQLite file, the thread that writes the
// ledger, keys, limits and a budget on every level, prices, metrics and the access log are all there.
// The data folder is the working folder. Whoever started it asks over the channel what it has used.

import { createApiKey } from '../../src/accounts/api-keys.ts'
import { createLedger } from '../../src/billing/ledger/ledger.ts'
import { openAccess } from '../../src/service/joins/open-access.ts'
import { openBilling } from '../../src/service/joins/open-billing.ts'
import { openServingInstallation, type Installation } from '../../src/service/joins/open-installation.ts'
import { reportToLog } from '../../src/service/serve.ts'
import { openTelemetry } from '../../src/service/joins/open-telemetry.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Config } from '../../src/config/schema.ts'
import { modelIds } from '../../src/core/model.ts'
import { openLedgerWriter } from '../../src/billing/ledger/writer/open-ledger-writer.ts'
import { LlamaEngine } from '../../src/engines/llama/llama-engine.ts'
import { createApp } from '../../src/http/app.ts'
import { readBounds } from '../../src/http/bounds.ts'
import { createRequestTracker } from '../../src/http/request-tracker.ts'
import { listen } from '../../src/http/server.ts'
import { createCatalog } from '../../src/models/catalog.ts'
import { createTokenCounter } from '../../src/inference/count-tokens.ts'
import { createReadSpent } from '../../src/inference/read-spent.ts'
import { describeServedModel } from '../../src/models/served-models.ts'
import { watchLedger } from '../../src/inference/settlement.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { keepCompiled } from '../../src/lib/keep-compiled.ts'
import { openLimits } from '../../src/limits/open-limits.ts'
import { setBudget } from '../../src/limits/settings/budget-settings.ts'
import { setLimit } from '../../src/limits/settings/limit-settings.ts'
import { openFormats } from '../../src/protocols/formats.ts'
import { SlotQueue } from '../../src/scheduling/slot-queue.ts'
import { RemotePools } from '../../src/models/fleet/pools/remote-pools.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { createTestManagement } from '../../test/harness/management.ts'
import { placeholderPath } from '../../test/harness/engines/placeholder-path.ts'
import { paceVariable } from './mock/read-pace.ts'
import { peakSinceLast } from '../process-use.ts'
import type { TargetUse } from './targets/target.ts'

export type OdysseyStart = { readonly address: string; readonly key: string; readonly enginePid: number }
export type OdysseyQuestion = { readonly kind: 'use' | 'ledger-rows' }

const operator = { kind: 'operator' } as const
const config = loadConfig({ ...process.env, ODYSSEY_HOME: process.cwd(), PORT: '0', DATABASE_URL: '' })
const log = createLog(config.logLevel)

const opened = await openServingInstallation(config)
const key = await prepare(opened)
const access = openAccess(opened, config, log)
const { installation, feed } = access
const rows = await openLedgerWriter(config, reportToLog(log))
const limits = await openLimits({
  db: installation.db,
  feed,
  clock: systemClock,
  log,
  readSpent: createReadSpent(installation.db),
  requestsPerKeyMax: null,
})
const { engine, queue } = await startScriptedEngine(config)
const catalog = createCatalog(
  modelIds.map((id) => ({ model: describeServedModel(id, config.models[id]), engine, queue })),
)
const { metrics, tracing } = await openTelemetry(config, { catalog, pools: new RemotePools({ config, log }), log })
const billing = await openBilling({ installation, feed, config, log, metrics })
const app = createApp({
  deliveries: billing.deliveries,
  inference: {
    catalog,
    ledger: watchLedger(createLedger(rows), {
      metrics,
      tracing,
      clock: systemClock,
      agreedFirstTokenMs: () => null,
    }),
    refusals: billing.refusals,
    prices: billing.prices,
    limiter: limits,
    clock: systemClock,
  },
  counter: createTokenCounter({
    catalog,
    clock: systemClock,
    limits: { perKeyMinuteMax: null, concurrentPerKeyMax: null },
  }),
  access: access.cache,
  bounds: readBounds(config),
  trustedProxies: config.server.trustedProxies,
  corsOrigins: config.server.corsOrigins,
  signatureKey: installation.secrets.signatureKey,
  formats: openFormats({ signatureKey: installation.secrets.signatureKey, readFingerprint: () => 'fp_bench' }),
  tracker: createRequestTracker(),
  log,
  metrics,
  tracing,
  management: createTestManagement(installation.accounts, limits),
})
const address = await listen(app, config)

keepCompiled()

process.on('message', ({ kind }: OdysseyQuestion) => {
  if (kind === 'use') process.send?.(readUse())
  else void countLedgerRows().then((count) => process.send?.(count))
})
process.on('disconnect', () => process.exit(0))
process.send?.({ address, key, enginePid: engine.pid ?? 0 } satisfies OdysseyStart)

function readUse(): TargetUse {
  const { user, system } = process.cpuUsage()
  // The child has the mock in it, and is none of Odyssey's use.
  const peakBytes = peakSinceLast(process.pid) ?? process.resourceUsage().maxRSS * 1_024
  return { cpuMs: (user + system) / 1_000, peakBytes }
}

async function countLedgerRows(): Promise<number> {
  const { count } = await installation.db
    .selectFrom('ledger')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** A key, and limits that are looked at for every request and never reached. */
async function prepare({ db, accounts, home }: Installation): Promise<string> {
  const created = await createApiKey(accounts, operator, { name: 'bench', ...home })
  const { organizationId, projectId } = home
  const subjects = [
    { kind: 'organization', id: organizationId },
    { kind: 'project', id: projectId },
    { kind: 'api-key', id: created.id },
  ] as const
  const parts = { db, clock: systemClock }
  for (const subject of subjects) {
    await setLimit(parts, operator, {
      organizationId,
      subject,
      model: '*',
      inputTokensPerMinute: 50_000_000_000,
      outputTokensPerMinute: 50_000_000_000,
      requestsPerMinute: 10_000_000,
      isRequestsEnforced: true,
      concurrency: 100_000,
    })
    const budget = { organizationId, subject, period: 'month', microsMax: 1_000_000_000_000_000 } as const
    await setBudget(parts, operator, budget)
  }
  await addPrices(db)
  return created.key
}

/** Written as they would stand there after a while: a price that is set now is in force only in ten seconds. */
async function addPrices(db: Installation['db']): Promise<void> {
  const rates = {
    input: 3_000_000,
    cache_read: 300_000,
    cache_write_short: 3_750_000,
    cache_write_long: 6_000_000,
    output: 15_000_000,
  }
  const when = { effective_at: 0, created_at: 0 }
  const common = { organization_id: null, currency: config.billing.currency, is_end: 0, ...when, ...rates }
  const prices = modelIds.map((model) => ({ id: `price_${model}` as const, model, ...common }))
  await db.insertInto('prices').values(prices).execute()
}

/** The engine as it is, but for its child, in whose place a scripted one is loaded. */
async function startScriptedEngine({ childEnvironment, engine: settings, server }: Config) {
  const script = new URL('./mock/scripted-engine.ts', import.meta.url)
  const ready = Promise.withResolvers<void>()
  const started = new LlamaEngine({
    settings: {
      ...settings,
      weightsPath: placeholderPath,
      isReproducible: false,
      draftTokensMax: 0,
      cacheBytesMax: 0,
      cacheOnDisk: null,
    },
    environment: {
      ...childEnvironment,
      NODE_OPTIONS: `--import=${script.href}`,
      [paceVariable]: process.env[paceVariable] ?? '',
    },
    clock: systemClock,
    onReady: () => ready.resolve(),
    onExit: (reason) => ready.reject(new Error(`The scripted engine ended: ${reason}.`)),
    onOutput: (line) => console.error(line),
  })
  await ready.promise
  const slotQueue = new SlotQueue({
    waitingMax: server.waitingRequestsMax,
    waitingBytesMax: server.waitingBytesMax,
    waitMsMax: server.queueSecondsMax * 1_000,
    clock: systemClock,
    random: Math.random,
    capacity: () => started.status(),
  })
  return { engine: started, queue: slotQueue }
}
