import { join } from 'node:path'
import type { AccessCache } from '../accounts/access/access-cache.ts'
import { createLedger } from '../billing/ledger/ledger.ts'
import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { modelIds } from '../core/model.ts'
import { lockHome } from '../db/lock-home.ts'
import { requireSoundDatabase } from '../db/check-sqlite.ts'
import { openRowWriter } from '../billing/ledger/write-ahead/open-row-writer.ts'
import type { RowWriter } from '../billing/ledger/write-ahead/row-writer.ts'
import { createApp } from '../http/app.ts'
import { readBounds } from '../http/bounds.ts'
import { listen as listenOn } from '../http/listen.ts'
import { createRequestTracker, type RequestTracker } from '../http/request-tracker.ts'
import { createCatalog, type Catalog, type SwitchableCatalog } from '../models/catalog.ts'
import { createReadSpent } from '../inference/read-spent.ts'
import { describeServedModel } from '../models/served-models.ts'
import { watchLedger } from '../inference/watched-ledger.ts'
import { systemClock } from '../lib/clock.ts'
import { createSharedAllowances } from '../limits/leases/shared-allowances.ts'
import { openLimits, type Limits } from '../limits/open-limits.ts'
import { openFormats } from '../protocols/formats.ts'
import { createLog, type Log } from '../telemetry/log.ts'
import { createManagement } from './joins/create-management.ts'
import { openAccess } from './joins/open-access.ts'
import { describeStart } from './banner.ts'
import { openBilling, type Billing } from './joins/open-billing.ts'
import { createFingerprint, describeModels } from './status/describe-models.ts'
import { describeQueues } from './status/describe-queues.ts'
import { EnginePool } from '../models/fleet/engine-pool.ts'
import { withdrawSwapRequest } from '../models/fleet/swap-request.ts'
import { swapWeights } from '../models/fleet/swap-weights.ts'
import { watchQueues } from '../models/fleet/watch-queues.ts'
import { watchSwapRequests } from './status/watch-swap-requests.ts'
import { makeCacheFolder } from './joins/make-cache-folder.ts'
import { makeFirstKey } from './joins/make-first-key.ts'
import { makeHome } from './joins/make-home.ts'
import { openServingAccounts, type Accounts } from './joins/open-accounts.ts'
import { rehearse } from './rehearse.ts'
import { removeStatus, writeStatus, type ServiceStatus } from './status/status-file.ts'
import { stopOnSignals } from './stop-on-signals.ts'
import { reportToLog } from './joins/report-to-log.ts'
import { openTelemetry, type Telemetry } from './joins/open-telemetry.ts'

/** The banner waits for the weights this long; large ones go on loading while the service already answers. */
const bannerWaitMs = 5_000

/** Makes the service's parts and joins them; nowhere else are they. */
export async function serve(): Promise<void> {
  const config = loadConfig()
  const unlock = takeFolders(config)
  const log = createLog(config.logLevel)
  requireSoundDatabase(config)
  const access = openAccess(await openServingAccounts(config), config, log)
  const { accounts } = access
  const rows = await openRowWriter(config, reportToLog(log))
  const limits = await openServiceLimits(accounts, config, log)
  const billing = await openBilling({ accounts, rows, config, log })
  const publish = { status: () => {} }
  const pool = new EnginePool({ config, log, onChange: () => publish.status() })
  pool.startAll()
  const catalog = createCatalogOf(config, pool)
  const tracker = createRequestTracker()
  const telemetry = await openTelemetry(config, catalog, log)
  const app = await createService(accounts, {
    access: access.cache,
    telemetry,
    config,
    catalog,
    pool,
    tracker,
    log,
    rows,
    limits,
    billing,
  })
  const address = await listen(app, config, pool)
  const status = createStatus(config.home, { address, catalog, pool, log })
  publish.status = () => status.write()
  status.write()
  const stopWatchingQueues = watchQueues(pool, () => status.write())
  const stopWatching = watchSwapRequests({
    config,
    log,
    swap: (swap) => swapWeights({ config, pool, catalog }, swap),
    publish: (swap) => status.tellSwap(swap),
  })

  const stop = async () => {
    stopWatching()
    stopWatchingQueues()
    await pool.close()
    await app.close()
    await telemetry.close()
    await access.close()
    await billing.close()
    await limits.close()
    await rows.close()
    await accounts.db.destroy()
    removeStatus(config.home)
    unlock()
  }
  const { launcherPid } = config
  stopOnSignals({ tracker, drainMs: config.server.drainSeconds * 1_000, launcherPid, log, stop })
  await printBanner(address, { accounts, folder: config.home, catalog, pool })
}

/** Returns the way to leave the data folder to another service. */
function takeFolders(config: Config): () => void {
  makeHome(config)
  const unlock = lockHome(join(config.home, 'serve.lock'))
  if (unlock === null) throw new Error(`Another service already runs on ${config.home}.`)
  // Whoever asked an earlier service for other weights no longer waits for them.
  withdrawSwapRequest(config.home)
  makeCacheFolder(config)
  return unlock
}

function createCatalogOf(config: Config, pool: EnginePool): SwitchableCatalog {
  return createCatalog(
    modelIds.map((id) => {
      const { engine, queue } = pool.of(id)
      return { model: describeServedModel(id, config.models[id]), engine, queue }
    }),
  )
}

function openServiceLimits({ db }: Accounts, config: Config, log: Log): Promise<Limits> {
  const requestsPerKeyMax = config.limits.concurrentRequestsPerKeyMax
  const onError = (error: unknown) => log.error({ error }, 'limits cannot be shared with other gateways')
  return openLimits({
    db,
    clock: systemClock,
    log,
    readSpent: createReadSpent(db),
    requestsPerKeyMax,
    ...(config.databaseUrl !== null && { shared: createSharedAllowances({ db, clock: systemClock, onError }) }),
  })
}

type Service = ReturnType<typeof createApp>
type ServiceParts = {
  readonly access: AccessCache
  readonly config: Config
  readonly catalog: Catalog
  readonly pool: EnginePool
  readonly tracker: RequestTracker
  readonly log: Log
  readonly rows: RowWriter
  readonly limits: Limits
  readonly billing: Billing
  readonly telemetry: Telemetry
}

async function createService(
  accounts: Accounts,
  { access, config, catalog, pool, tracker, log, rows, limits, billing, telemetry }: ServiceParts,
): Promise<Service> {
  const { metrics, tracing } = telemetry
  const { signatureKey, systemFingerprintKey: key } = accounts.secrets
  const formats = openFormats({ signatureKey, readFingerprint: createFingerprint({ config, pool, key }) })
  // While the engines' children load their weights.
  await rehearse(formats)
  const ledger = watchLedger(createLedger(rows), { metrics, tracing, clock: systemClock })
  return createApp({
    deliveries: billing.deliveries,
    inference: { catalog, ledger, prices: billing.prices, limiter: limits, clock: systemClock },
    access,
    bounds: readBounds(config),
    trustedProxies: config.server.trustedProxies,
    corsOrigins: config.server.corsOrigins,
    formats,
    signatureKey,
    tracker,
    log,
    metrics,
    tracing,
    management: createManagement(accounts, { config, pool, limits }),
  })
}

const noAddress = (host: string) => `${host} is no address of this machine. Set HOST to another one.`
const listenFaults: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (host, port) => `Port ${port} on ${host} is taken. Set PORT to another one.`,
  EACCES: (host, port) => `Port ${port} on ${host} is not allowed to this user. Set PORT to another one.`,
  EADDRNOTAVAIL: noAddress,
  ENOTFOUND: noAddress,
}

async function listen(app: Service, { host, port }: Config, pool: EnginePool): Promise<string> {
  try {
    return await listenOn(app, { host, port })
  } catch (error) {
    await pool.close()
    const words = listenFaults[error instanceof Error && 'code' in error ? String(error.code) : '']
    if (words !== undefined) throw new Error(words(host, port), { cause: error })
    throw error
  }
}

type StatusParts = Pick<ServiceParts, 'catalog' | 'pool' | 'log'> & { readonly address: string }

function createStatus(home: string, { address, catalog, pool, log }: StatusParts) {
  let swap: ServiceStatus['swap'] = null
  const write = () => {
    try {
      const [models, queues] = [describeModels(catalog, pool), describeQueues(pool)]
      writeStatus(home, { pid: process.pid, address, models, queues, swap })
    } catch (error) {
      // Nobody's answer depends on this file; a full disk must not end the service through it.
      log.error({ error }, 'the status file cannot be written')
    }
  }
  return {
    write,
    tellSwap(news: ServiceStatus['swap']) {
      swap = news
      write()
    },
  }
}

type BannerParts = Pick<ServiceParts, 'catalog' | 'pool'> & { readonly accounts: Accounts; readonly folder: string }

async function printBanner(address: string, { accounts, folder, catalog, pool }: BannerParts): Promise<void> {
  const firstKey = await makeFirstKey(accounts, { folder, isTerminal: process.stdout.isTTY })
  const waited = new Promise<void>((resolve) => {
    systemClock.after(bannerWaitMs, resolve)
  })
  await Promise.race([Promise.all(pool.list().map(({ loaded }) => loaded)), waited])
  console.log(describeStart({ address, models: describeModels(catalog, pool), firstKey }))
}
