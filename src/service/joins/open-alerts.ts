import { readFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { checkDomains } from '../../accounts/single-sign-on/check-domains.ts'
import { raise, type AlertParts } from '../../alerts/append-event.ts'
import { declareSinks, type DeclaredSink } from '../../alerts/audit-sinks/declare-sinks.ts'
import { readTarget } from '../../alerts/audit-sinks/sink-target.ts'
import { startPushingAudit } from '../../alerts/audit-sinks/push-audit.ts'
import { deleteOldEvents, startDelivering, type MailDelivery } from '../../alerts/deliver.ts'
import { createMailer, type Mailer } from '../../alerts/mail.ts'
import { inTurn, notingFaults } from '../../telemetry/note-faults.ts'
import { tellBurning } from '../../alerts/burn-rates.ts'
import { createReachable } from '../../alerts/private-addresses.ts'
import { tellCosts, tellDomains, tellFailing, tellKeyEnds, tellNewNetworks } from '../../alerts/rules.ts'
import { tellBudgets, tellRequests, tellHours } from '../../alerts/sources.ts'
import { createPoster } from '../../alerts/webhook.ts'
import type { Config } from '../../config/schema.ts'
import { installationChain } from '../../db/change.ts'
import type { LoadedWeights } from '../../http/api/engine-schemas.ts'
import { every, systemClock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { SinkSettings } from '../../config/sink-schema.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import { readVersion } from '../read-version.ts'
import type { Installation } from './open-installation.ts'
import { createTextResolver } from './open-single-sign-on.ts'
import { watchSigns } from './watch-signs.ts'

const minuteMs = 60_000
/** What goes on is told again so often. */
const windowMs = 3_600_000

export type Alerts = { close(): Promise<void> }

export type AlertingParts = {
  readonly installation: Pick<Installation, 'db' | 'secrets'>
  readonly config: Pick<
    Config,
    'alerts' | 'billing' | 'home' | 'audit' | 'server' | 'configFolder' | 'sinkSecrets' | 'mailSecrets' | 'dashboard'
  >
  readonly log: Log
  readonly metrics: Metrics
  readEngines(): readonly Pick<LoadedWeights, 'model' | 'state' | 'reason'>[]
}

/** Looks for what is to be told, and delivers it; looks again for the records of domains; pushes the audit to its sinks. */
export async function openAlerts({ installation, config, log, metrics, readEngines }: AlertingParts): Promise<Alerts> {
  const parts = { db: installation.db, clock: systemClock }
  const { allowedNetworks, diskPercentMax } = config.alerts
  const disk = { folder: config.home, percentMax: diskPercentMax }
  const often = notingFaults(log, 'budgets and requests could not be told', () =>
    inTurn([() => tellBudgets({ ...parts, currency: config.billing.currency }), () => tellRequests(parts)]),
  )
  const seldom = notingFaults(log, 'what is told once a minute could not be', () =>
    tellSeldom(parts, { disk, readEngines }),
  )
  await declareConfigured({ ...parts, alertKey: installation.secrets.alertKey }, config)
  const resolveTexts = createTextResolver()
  const domains = notingFaults(log, 'the records of domains could not be looked for', () =>
    checkDomains({ ...parts, resolveTexts }),
  )
  const stops = [
    every(systemClock, 1_000, often),
    every(systemClock, minuteMs, seldom),
    every(systemClock, minuteMs, domains),
    watchSigns({ ...parts, config, log, metrics }),
  ]
  const isReachable = createReachable(allowedNetworks)
  const poster = createPoster(isReachable)
  const delivering = { ...parts, log, alertKey: installation.secrets.alertKey, poster }
  const deliverer = startDelivering({ ...delivering, mail: openMail(config) })
  const product = { version: readVersion(), host: hostOf(config) }
  const pusher = startPushingAudit({ ...delivering, isReachable, metrics, product })
  return {
    async close() {
      await Promise.all([...stops.map((stop) => stop()), pusher.close()])
      await deliverer.close()
    },
  }
}

/** What is told by a look once a minute. A rule that cannot look keeps none of the others from doing so. */
export function tellSeldom(
  parts: AlertParts,
  { disk, readEngines }: Pick<AlertingParts, 'readEngines'> & { readonly disk: Disk },
): Promise<void> {
  const ofOrganizations = [tellHours, tellKeyEnds, tellNewNetworks, tellFailing, tellCosts, tellDomains]
  return inTurn([
    ...ofOrganizations.map((tell) => () => tell(parts)),
    () => tellDisk(parts, disk),
    () => tellEngines(parts, readEngines()),
    () => tellBurning(parts),
    () => deleteOldEvents(parts),
  ])
}

/** How a receiver tells installations apart. */
function hostOf({ audit, server }: Pick<Config, 'audit' | 'server'>): string {
  return audit.logName ?? (server.publicUrl === null ? hostname() : new URL(server.publicUrl).hostname)
}

type DeclaringConfig = Pick<Config, 'audit' | 'configFolder' | 'sinkSecrets'>

/** Makes the sinks those of the config file. Throws, with the sink, where one of them cannot be as it says. */
async function declareConfigured(parts: Parameters<typeof declareSinks>[0], config: DeclaringConfig): Promise<void> {
  const declared = config.audit.sinks.map((sink): DeclaredSink => {
    try {
      const read = readSink(sink, config)
      readTarget(read.kind, read)
      return read
    } catch (error) {
      throw new Error(`audit.sinks, ${sink.name}: ${messageOf(error)}`, { cause: error })
    }
  })
  await declareSinks(parts, declared)
}

function readSink(sink: SinkSettings, { configFolder, sinkSecrets }: DeclaringConfig): DeclaredSink {
  const { kind, name, format, from } = sink
  if (sink.kind === 'file') return { kind, name, format, from, address: resolve(configFolder, sink.path) }
  const read = (path: string | null) => (path === null ? null : readFileSync(resolve(configFolder, path), 'utf8'))
  const tls = { ca: read(sink.caFile), certificate: read(sink.certificateFile), privateKey: read(sink.keyFile) }
  const target = { kind, name, format, from, address: sink.address, ...tls }
  if (sink.kind === 'syslog') return target
  const valueOf = (variable: string) => sinkSecrets[variable.slice('env:'.length)] ?? ''
  const header = sink.header && { name: sink.header.name, value: valueOf(sink.header.value) }
  return { ...target, header, secret: sink.secret === null ? null : valueOf(sink.secret) }
}

/** The operator's relay; null where none is set. */
export function openMailer({ alerts: { mail }, mailSecrets }: Pick<Config, 'alerts' | 'mailSecrets'>): Mailer | null {
  return mail === null || mailSecrets === null ? null : createMailer(mail, mailSecrets)
}

function openMail({ server, dashboard, ...config }: AlertingParts['config']): MailDelivery | null {
  const mailer = openMailer(config)
  if (mailer === null) return null
  const site = dashboard.enabled ? server.publicUrl : null
  return {
    mailer,
    // The installation's channels are changed by commands alone.
    pageOf: (id) => (site === null || id === installationChain ? null : `${site}/o/${id}/alerts`),
  }
}

type Disk = { readonly folder: string; readonly percentMax: number }

/** Tells when the disk of the data folder is nearly full, as far as this user may fill it. */
export async function tellDisk(parts: AlertParts, { folder, percentMax }: Disk): Promise<void> {
  const { blocks, bfree, bavail, bsize } = await statfs(folder)
  const used = blocks - bfree
  const percent = Math.floor((100 * used) / Math.max(1, used + bavail))
  if (percent < percentMax) return
  await raise(parts, {
    organizationId: installationChain,
    topic: 'disk.near-full',
    cause: folder,
    windowMs,
    data: { folder, percent, bytesLeft: bavail * bsize },
  })
}

/** Tells of engines that end again and again, and so are not started at once any more, and of pools without a replica. */
export async function tellEngines(
  parts: AlertParts,
  engines: readonly Pick<LoadedWeights, 'model' | 'state' | 'reason'>[],
): Promise<void> {
  for (const { model, reason } of engines.filter(({ state }) => state === 'down')) {
    const topic = 'engine.crash-loop'
    await raise(parts, { organizationId: installationChain, topic, cause: model, windowMs, data: { model, reason } })
  }
}
