import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createApiKey, listApiKeys } from '../accounts/api-keys.ts'
import { createLedger } from '../billing/ledger.ts'
import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { lockHome } from '../db/lock-home.ts'
import { createApp } from '../http/app.ts'
import { createRequestTracker, type RequestTracker } from '../http/request-tracker.ts'
import { createCatalog, type Catalog } from '../inference/catalog.ts'
import { systemClock } from '../lib/clock.ts'
import { createConcurrencyLimiter } from '../limits/concurrency-limiter.ts'
import { createChatCompletionsProtocol } from '../protocols/chat-completions/decode.ts'
import { createMessagesProtocol } from '../protocols/messages/messages-protocol.ts'
import { createLog, type Log } from '../telemetry/log.ts'
import { describeStart } from './banner.ts'
import { openAccounts, type Accounts } from './open-accounts.ts'
import { startEngines, toCatalogEntries, type RunningEngine } from './start-engines.ts'
import { removeStatus, writeStatus } from './status-file.ts'
import { stopOnSignals } from './stop-on-signals.ts'

/** The banner waits for the weights this long; large ones go on loading while the service already answers. */
const bannerWaitMs = 5_000

/** `odyssey serve`: the only place where the service's parts are made and joined. */
export async function serveCommand(): Promise<void> {
  const config = loadConfig()
  mkdirSync(config.home, { recursive: true, mode: 0o700 })
  const unlock = lockHome(join(config.home, 'serve.lock'))
  if (unlock === null) throw new Error(`Another service already runs on ${config.home}.`)
  const log = createLog(config.logLevel)
  const accounts = await openAccounts(config)
  const publish = { status: () => {} }
  const engines = startEngines(config, log, () => publish.status())
  const catalog = createCatalog(toCatalogEntries(config, engines))
  const tracker = createRequestTracker()
  const app = createService(accounts, { config, catalog, tracker, log })
  const address = await listen(app, config, engines)
  publish.status = () =>
    writeStatus(config.home, { pid: process.pid, address, models: describeModels(catalog, engines) })
  publish.status()

  const stop = async () => {
    await Promise.all(engines.map(({ llama }) => llama.close()))
    await app.close()
    await accounts.db.destroy()
    removeStatus(config.home)
    unlock()
  }
  stopOnSignals({ tracker, drainMs: config.server.drainSeconds * 1_000, log, stop })
  await printBanner(address, { accounts, catalog, engines })
}

type Service = ReturnType<typeof createApp>
type ServiceParts = {
  readonly config: Config
  readonly catalog: Catalog
  readonly tracker: RequestTracker
  readonly log: Log
}

function createService({ db, apiKeys, secrets }: Accounts, { config, catalog, tracker, log }: ServiceParts): Service {
  const limiter = createConcurrencyLimiter(config.limits.concurrentRequestsPerKeyMax)
  return createApp({
    inference: { catalog, ledger: createLedger(db), limiter, clock: systemClock },
    apiKeys,
    chatCompletions: createChatCompletionsProtocol({ systemFingerprint: fingerprint(config) }),
    messages: createMessagesProtocol({ signatureKey: secrets.signatureKey }),
    tracker,
    log,
  })
}

async function listen(app: Service, { host, port }: Config, engines: readonly RunningEngine[]): Promise<string> {
  try {
    return await app.listen({ host, port })
  } catch (error) {
    await Promise.all(engines.map(({ llama }) => llama.close()))
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
    if (isTaken) throw new Error(`Port ${port} on ${host} is taken. Set PORT to another one.`, { cause: error })
    throw error
  }
}

/** Changes whenever the deployment may answer differently, and tells nothing else about it. */
function fingerprint(config: Config): string {
  const revision = JSON.stringify([config.models, config.engine])
  return `fp_${createHash('sha256').update(revision).digest('hex').slice(0, 10)}`
}

function describeModels(catalog: Catalog, engines: readonly RunningEngine[]) {
  return catalog.list().flatMap(({ model, engine }) => {
    const running = engines.find(({ models }) => models.includes(model.id))
    if (running === undefined) return []
    const { state, slots } = engine.status()
    const { weightsPath, isPlaceholder, llama } = running
    return [
      {
        id: model.id,
        weights: weightsPath,
        isPlaceholder,
        state,
        windowTokens: model.windowTokens,
        slots,
        enginePid: llama.pid,
      },
    ]
  })
}

async function printBanner(
  address: string,
  {
    accounts,
    catalog,
    engines,
  }: { readonly accounts: Accounts; readonly catalog: Catalog; readonly engines: readonly RunningEngine[] },
): Promise<void> {
  const { apiKeys, home } = accounts
  const isFirstStart = (await listApiKeys(apiKeys, home.organizationId)).length === 0
  const firstKey = isFirstStart
    ? (await createApiKey(apiKeys, { kind: 'operator' }, { name: 'First key', ...home })).key
    : null
  const waited = new Promise<void>((resolve) => {
    systemClock.after(bannerWaitMs, resolve)
  })
  await Promise.race([Promise.all(engines.map(({ loaded }) => loaded)), waited])
  console.log(describeStart({ address, models: describeModels(catalog, engines), firstKey }))
}
