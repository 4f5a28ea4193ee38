import { join } from 'node:path'
import type { AccessCache } from '../accounts/access/access-cache.ts'
import { createRecorder, type Recorder } from '../accounts/recordings/recorder.ts'
import { createLedger } from '../billing/ledger/ledger.ts'
import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { modelIds } from '../core/model.ts'
import { lockHome } from '../db/lock-home.ts'
import { requireUsableDatabase } from '../db/open-sqlite.ts'
import { openLedgerWriter } from '../billing/ledger/writer/open-ledger-writer.ts'
import type { LedgerWriter, StorageReport } from '../billing/ledger/writer/ledger-writer.ts'
import { createApp } from '../http/app.ts'
import { readBounds } from '../http/bounds.ts'
import { Dashboard, dashboardFolder } from '../http/dashboard/dashboard.ts'
import { OperatorDoor } from '../http/operator-door.ts'
import { listen as listenOn } from '../http/server.ts'
import { createRequestTracker, type RequestTracker } from '../http/request-tracker.ts'
import { createCatalog, type Catalog, type SwitchableCatalog } from '../models/catalog.ts'
import { createTokenCounter } from '../inference/count-tokens.ts'
import { createReadSpent } from '../inference/read-spent.ts'
import { describeServedModel } from '../models/served-models.ts'
import { watchLedger } from '../inference/settlement.ts'
import { pause, systemClock } from '../lib/clock.ts'
import { createSharedAllowances } from '../limits/leases/shared-allowances.ts'
import { openLimits, type Limits } from '../limits/open-limits.ts'
import { openFormats } from '../protocols/formats.ts'
import type { ChangeFeed } from '../db/change-feed.ts'
import { openPlacementChannel } from '../db/notices/postgres-notices.ts'
import { createLog, type Log } from '../telemetry/log.ts'
import { createManagement } from './joins/create-management.ts'
import { openAlerts } from './joins/open-alerts.ts'
import { openAccess, type Access } from './joins/open-access.ts'
import { describeStart } from './banner.ts'
import { openBilling, type Billing } from './joins/open-billing.ts'
import { openAvailability, type Availability } from './joins/open-availability.ts'
import { createFingerprint, describeWeights } from './status/describe-engines.ts'
import { EnginePool } from '../models/fleet/engine-pool.ts'
import { RemotePools } from '../models/fleet/pools/remote-pools.ts'
import { swapWeights } from '../models/fleet/swap-weights.ts'
import { WeightsSwaps } from '../models/fleet/weights-swaps.ts'
import { openWeightsJobs, type WeightsJobs } from '../models/jobs/weights-jobs.ts'
import { makeCacheFolder, makeHome } from './joins/make-home.ts'
import { makeSetupLink, Site } from './joins/make-setup-link.ts'
import { makeFirstKey } from './joins/make-first-key.ts'
import { openServingInstallation, type Installation } from './joins/open-installation.ts'
import { rehearse } from './rehearse.ts'
import { removeServiceFile, writeServiceFile } from './status/service-file.ts'
import { stopOnSignals } from './stop-on-signals.ts'
import { openTelemetry, type Telemetry } from './joins/open-telemetry.ts'

/** The banner waits for the weights this long; large ones go on loading while the service already answers. */
const bannerWaitMs = 5_000

/** Makes the service's parts and joins them; nowhere else are they. */
export async function serve(): Promise<void> {
  const config = loadConfig()
  const unlock = takeFolders(config)
  const log = createLog(config.logLevel)
  requireUsableDatabase(config)
  const access = openAccess(await openServingInstallation(config), config, log)
  const { installation, feed } = access
  const rows = await openLedgerWriter(config, reportToLog(log))
  const limits = await openServiceLimits({ installation, feed }, config, log)
  const { pool, pools, catalog } = openModels(config, log, installation)
  const swaps = new WeightsSwaps({ config, log, swap: (swap) => swapWeights({ config, pool, catalog }, swap) })
  const jobs = openWeightsJobs({ config, log, swaps })
  const operatorDoor = new OperatorDoor()
  const site = new Site(config)
  const tracker = createRequestTracker()
  const telemetry = await openTelemetry(config, { catalog, pools, log })
  const billing = await openBilling({ installation, feed, config, log, metrics: telemetry.metrics })
  const availability = openAvailability({ ...installation.accounts, log, config, isStopping: tracker.isDraining })
  const recorder = openRecorder(installation, config, log)
  const app = await createService(installation, {
    access: access.cache,
    feed,
    telemetry,
    config,
    catalog,
    pool,
    pools,
    swaps,
    jobs,
    operatorDoor,
    site,
    tracker,
    log,
    rows,
    limits,
    billing,
    recorder,
    availability,
  })
  const address = await listen(app, config, () => Promise.all([pool.close(), pools.close()]))
  const readEngines = () => [...describeWeights(catalog, pool), ...pools.list()]
  const { metrics } = telemetry
  const alerts = await openAlerts({ installation, config, log, metrics, readEngines })
  site.listensAt(address)
  const areKeysChecked = () => access.cache.isAvailable()
  availability.begin({ catalog, ledger: createLedger(rows), clock: systemClock, areKeysChecked })
  writeServiceFile(config.home, { pid: process.pid, address, operator: await operatorDoor.listen(app) })
  swaps.startLate()
  jobs.resume()

  const stop = async () => {
    await Promise.all([operatorDoor.close(), jobs.close(), availability.close()])
    for (const part of [alerts, pool, pools, app, telemetry, recorder, access, billing, limits, rows])
      await part.close()
    await installation.db.destroy()
    removeServiceFile(config.home)
    unlock()
  }
  stopOnSignals({ tracker, server: config.server, launcherPid: config.launcherPid, log, stop })
  await printBanner(address, { installation, site, config, catalog, pool, pools })
}

/** Returns the way to leave the data folder to another service. */
function takeFolders(config: Config): () => void {
  makeHome(config)
  const unlock = lockHome(join(config.home, 'serve.lock'))
  if (unlock === null) throw new Error(`Another service already runs on ${config.home}.`)
  makeCacheFolder(config)
  return unlock
}

/** What answers for each model: weights that are loaded here, or a pool of replicas elsewhere. */
function openModels(config: Config, log: Log, { db }: Installation) {
  const pool = new EnginePool({ config, log })
  pool.startAll()
  const { databaseUrl: url } = config
  const openChannel = url === null ? undefined : () => openPlacementChannel({ db, clock: systemClock, url })
  const pools = new RemotePools({ config, log, openChannel })
  return { pool, pools, catalog: createCatalogOf(config, pool, pools) }
}

function createCatalogOf(config: Config, pool: EnginePool, pools: RemotePools): SwitchableCatalog {
  return createCatalog(
    modelIds.map((id) => {
      const lane = pool.of(id) ?? pools.of(id)
      if (lane === null) throw new Error(`Nothing was started for ${id}.`)
      const { engine, queue } = lane
      return { model: describeServedModel(id, config.models[id]), engine, queue }
    }),
  )
}

function openServiceLimits(
  { installation: { db }, feed }: Pick<Access, 'installation' | 'feed'>,
  config: Config,
  log: Log,
): Promise<Limits> {
  const requestsPerKeyMax = config.limits.concurrentRequestsPerKeyMax
  const onError = (error: unknown) => log.error({ error }, 'limits cannot be shared with other gateways')
  return openLimits({
    db,
    feed,
    clock: systemClock,
    log,
    readSpent: createReadSpent(db),
    requestsPerKeyMax,
    ...(config.databaseUrl !== null && { shared: createSharedAllowances({ db, clock: systemClock, onError }) }),
  })
}

function openRecorder({ accounts, secrets }: Installation, { recordings }: Config, log: Log): Recorder {
  return createRecorder({ ...accounts, key: secrets.recordingKey, isEnabled: recordings.enabled, log })
}

type Service = ReturnType<typeof createApp>
type ServiceParts = {
  readonly access: AccessCache
  readonly feed: ChangeFeed
  readonly config: Config
  readonly catalog: Catalog
  readonly pool: EnginePool
  readonly pools: RemotePools
  readonly swaps: WeightsSwaps
  readonly jobs: WeightsJobs
  readonly operatorDoor: OperatorDoor
  readonly site: Site
  readonly tracker: RequestTracker
  readonly log: Log
  readonly rows: LedgerWriter
  readonly limits: Limits
  readonly billing: Billing
  readonly recorder: Recorder
  readonly telemetry: Telemetry
  readonly availability: Availability
}

async function createService(installation: Installation, parts: ServiceParts): Promise<Service> {
  const { access, config, catalog, pool, tracker, log, rows, limits, billing, telemetry, availability } = parts
  const { metrics, tracing } = telemetry
  const { signatureKey, systemFingerprintKey: key } = installation.secrets
  const formats = openFormats({ signatureKey, readFingerprint: createFingerprint({ config, pool, key }) })
  // While the engines' children load their weights.
  await rehearse(formats)
  const { countsPerKeyMinuteMax: perKeyMinuteMax, concurrentCountsPerKeyMax: concurrentPerKeyMax } = config.limits
  const counts = { perKeyMinuteMax, concurrentPerKeyMax }
  const { agreedFirstTokenMs } = availability
  const ledger = watchLedger(createLedger(rows), { metrics, tracing, clock: systemClock, agreedFirstTokenMs })
  return createApp({
    deliveries: billing.deliveries,
    hashEndUser: billing.hashEndUser,
    recorder: parts.recorder,
    inference: {
      catalog,
      ledger,
      refusals: billing.refusals,
      prices: billing.prices,
      limiter: limits,
      clock: systemClock,
      signs: availability.signs,
      outputOverLimit: config.limits.outputOverLimit,
    },
    counter: createTokenCounter({ catalog, clock: systemClock, limits: counts }),
    access,
    bounds: readBounds(config),
    trustedProxies: config.server.trustedProxies,
    corsOrigins: config.server.corsOrigins,
    contact: config.contact,
    formats,
    signatureKey,
    tracker,
    log,
    metrics,
    tracing,
    management: createManagement(installation, parts),
    readHistory: () => availability.readHistory(),
    ...(config.dashboard.enabled && {
      dashboard: new Dashboard({
        folder: dashboardFolder,
        arePricesPublic: config.billing.publicPrices,
        clock: systemClock,
        log,
      }),
    }),
  })
}

const noAddress = (host: string) => `${host} is no address of this machine. Set HOST to another one.`
const listenFaults: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (host, port) => `Port ${port} on ${host} is taken. Set PORT to another one.`,
  EACCES: (host, port) => `Port ${port} on ${host} is not allowed to this user. Set PORT to another one.`,
  EADDRNOTAVAIL: noAddress,
  ENOTFOUND: noAddress,
}

async function listen(app: Service, { host, port }: Config, closeEngines: () => Promise<unknown>): Promise<string> {
  try {
    return await listenOn(app, { host, port })
  } catch (error) {
    await closeEngines()
    const words = listenFaults[error instanceof Error && 'code' in error ? String(error.code) : '']
    if (words !== undefined) throw new Error(words(host, port), { cause: error })
    throw error
  }
}

type BannerParts = Pick<ServiceParts, 'catalog' | 'pool' | 'pools' | 'site'> & {
  readonly installation: Installation
  readonly config: Config
}

async function printBanner(address: string, parts: BannerParts): Promise<void> {
  const { installation, site, config, catalog, pool, pools } = parts
  const isTerminal = process.stdout.isTTY
  const firstKey = await makeFirstKey(installation, { folder: config.home, isTerminal })
  const setup = await makeSetupLink(installation, { site, isTerminal })
  const loaded = [...pool.list().map((running) => running.loaded), pools.whenReady()]
  await Promise.race([Promise.all(loaded), pause(systemClock, bannerWaitMs)])
  const models = [...describeWeights(catalog, pool), ...pools.list()]
  console.log(describeStart({ address, models, firstKey, setup, hasPages: config.dashboard.enabled }))
}

export function reportToLog(log: Log): StorageReport {
  return {
    failed: (error, what) => log.error({ error }, what),
    recovered: (what) => log.info(what),
  }
}
