import { closeMonths } from '../../billing/availability/close-months.ts'
import { keepObjectives, type LiveObjectives } from '../../billing/availability/objectives.ts'
import { createLifeSigns, deleteOldSigns, keptMs, type LifeSigns } from '../../billing/availability/life-signs.ts'
import { keepHistory, type StatusHistory } from '../../billing/availability/status-history.ts'
import { watchModels } from '../../billing/availability/watch-models.ts'
import { closeInvoices } from '../../billing/invoices/close-invoices.ts'
import type { Config } from '../../config/schema.ts'
import { canAnswer } from '../../core/engine.ts'
import { modelIds } from '../../core/model.ts'
import type { Database } from '../../db/database.ts'
import { askCanary, type CanaryParts } from '../../inference/canary.ts'
import { every, type Clock } from '../../lib/clock.ts'
import { randomId } from '../../lib/random-id.ts'
import { statusOf } from '../../models/catalog.ts'
import type { Log } from '../../telemetry/log.ts'
import { openSigning } from './audit-anchors.ts'

const hourMs = 3_600_000
/** By then rows that had to wait for the database while the service was down are most likely in it. */
const firstMs = 60_000

export type AvailabilityParts = {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly config: Pick<Config, 'availability' | 'billing' | 'home' | 'audit' | 'server'>
  /** Whether the service is about to stop, and lets nobody in any more. */
  isStopping(): boolean
}

export type Availability = {
  readonly signs: LifeSigns
  /** How the models were, as it was read a minute ago at most, or before the database went away. */
  readHistory(): StatusHistory | null
  readonly agreedFirstTokenMs: LiveObjectives['agreedFirstTokenMs']
  /** From now on requests are let in. */
  begin(canary: CanaryParts): void
  close(): Promise<void>
}

/** What the availability of this gateway is measured by, and the work on the months that are over. */
export function openAvailability(parts: AvailabilityParts): Availability {
  const { db, clock, log, config, isStopping } = parts
  const signs = createLifeSigns({ db, clock, log, bootId: `boot_${randomId()}`, isStopping })
  const history = keepHistory({ db, clock, log, models: modelIds })
  const objectives = keepObjectives({ db, clock, log })
  const stops: (() => Promise<void>)[] = [() => history.close(), () => objectives.close()]
  return {
    signs,
    readHistory: () => history.read(),
    agreedFirstTokenMs: (organizationId, atMs) => objectives.agreedFirstTokenMs(organizationId, atMs),
    begin(canary) {
      signs.begin()
      const ask = (model: string) =>
        config.availability.canary === 'on' ? askCanary(canary, model) : Promise.resolve(lookAt(canary, model))
      stops.push(watchModels(signs, { clock, models: modelIds, ask, isStopping }), keepMonths(parts))
    },
    async close() {
      await Promise.all(stops.map((stop) => stop()))
      await signs.close()
    },
  }
}

function lookAt({ catalog, ledger, areKeysChecked }: CanaryParts, model: string): string {
  try {
    ledger.requireWritable()
    return areKeysChecked() && canAnswer(statusOf(catalog.find(model)).state) ? 'answered' : 'overloaded'
  } catch {
    return 'overloaded'
  }
}

/**
 * Soon after the start, for a service that never runs for an hour, and once an hour: deletes what is old, also where nothing can
 * be signed; then signs the months that have ended, and gives back what is owed for them.
 */
function keepMonths({ db, clock, log, config }: AvailabilityParts): () => Promise<void> {
  const keep = async () => {
    try {
      await deleteOldSigns(db, clock.nowMs() - keptMs)
      const signing = await openSigning(config, { db, clock })
      const closing = { db, clock, currency: config.billing.currency }
      await closeInvoices({ ...closing, log }, signing, await closeMonths(closing, signing))
    } catch (error) {
      log.error({ error }, 'the months of availability could not be closed')
    }
  }
  return every(clock, hourMs, keep, firstMs)
}
