import { statfs } from 'node:fs/promises'
import { raise, type AlertParts } from '../../alerts/append-event.ts'
import { deleteOldEvents, startDelivering } from '../../alerts/deliver.ts'
import { notingFaults } from '../../alerts/note-faults.ts'
import { tellBurning } from '../../alerts/burn-rates.ts'
import { createReachable } from '../../alerts/private-addresses.ts'
import { tellCosts, tellFailing, tellKeyEnds } from '../../alerts/rules.ts'
import { tellBudgets, tellRequests, tellHours } from '../../alerts/sources.ts'
import { createPoster } from '../../alerts/webhook.ts'
import type { Config } from '../../config/schema.ts'
import { installationChain } from '../../db/change.ts'
import type { LoadedWeights } from '../../http/api/engine-schemas.ts'
import { every, systemClock } from '../../lib/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Installation } from './open-installation.ts'

const minuteMs = 60_000
/** What goes on is told again so often. */
const windowMs = 3_600_000

export type Alerts = { close(): Promise<void> }

export type AlertingParts = {
  readonly installation: Pick<Installation, 'db' | 'secrets'>
  readonly config: Pick<Config, 'alerts' | 'home'>
  readonly log: Log
  readEngines(): readonly Pick<LoadedWeights, 'model' | 'state' | 'reason'>[]
}

/** Looks for what is to be told, and delivers it. */
export function openAlerts({ installation, config, log, readEngines }: AlertingParts): Alerts {
  const parts = { db: installation.db, clock: systemClock }
  const { allowedNetworks, diskPercentMax } = config.alerts
  const often = notingFaults(log, 'budgets and requests could not be told', async () => {
    await tellBudgets(parts)
    await tellRequests(parts)
  })
  const seldom = notingFaults(log, 'what is told once a minute could not be', async () => {
    await tellHours(parts)
    await tellKeyEnds(parts)
    await tellFailing(parts)
    await tellCosts(parts)
    await tellDisk(parts, { folder: config.home, percentMax: diskPercentMax })
    await tellEngines(parts, readEngines())
    await tellBurning(parts)
    await deleteOldEvents(parts)
  })
  const stops = [every(systemClock, 1_000, often), every(systemClock, minuteMs, seldom)]
  const poster = createPoster(createReachable(allowedNetworks))
  const deliverer = startDelivering({ ...parts, log, alertKey: installation.secrets.alertKey, poster })
  return {
    async close() {
      await Promise.all(stops.map((stop) => stop()))
      await deliverer.close()
    },
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

/** Tells of engines that end again and again, and so are not started at once any more. */
export async function tellEngines(
  parts: AlertParts,
  engines: readonly Pick<LoadedWeights, 'model' | 'state' | 'reason'>[],
): Promise<void> {
  for (const { model, reason } of engines.filter(({ state }) => state === 'down')) {
    const topic = 'engine.crash-loop'
    await raise(parts, { organizationId: installationChain, topic, cause: model, windowMs, data: { model, reason } })
  }
}
