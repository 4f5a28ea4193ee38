import { createEndUserHash, type EndUserHash } from '../../billing/attribution/attribute.ts'
import { createDeliveries, type Deliveries } from '../../billing/deliveries/deliveries.ts'
import { startLedgerJobs } from '../../billing/ledger-jobs.ts'
import { startLedgerJobsThread } from '../../billing/ledger-jobs-thread.ts'
import { openPriceBook, type LivePriceBook, type PriceBook } from '../../billing/prices/price-book.ts'
import { createRefusals, type Refusals } from '../../billing/refusals/refusals.ts'
import type { Config } from '../../config/schema.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { modelIds } from '../../core/model.ts'
import type { ChangeFeed } from '../../db/change-feed.ts'
import { sqlitePath } from '../../db/database-location.ts'
import { systemClock } from '../../lib/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Installation } from './open-installation.ts'

export type Billing = {
  readonly prices: LivePriceBook
  readonly deliveries: Deliveries
  readonly hashEndUser: EndUserHash
  readonly refusals: Refusals
  close(): Promise<void>
}

export type BillingParts = {
  readonly installation: Pick<Installation, 'db' | 'home' | 'secrets'>
  readonly feed: ChangeFeed
  readonly config: Config
  readonly log: Log
  readonly metrics: Metrics
}

/** The prices of a service and the work on its ledger. */
export async function openBilling({ installation, feed, config, log, metrics }: BillingParts): Promise<Billing> {
  const { db, home, secrets } = installation
  const { currency, pricesRequired, reversalsPerKeyDayMax, ledgerDaysMax } = config.billing
  const prices = await openPriceBook({ db, feed, log, currency, isRequired: pricesRequired })
  const nowMs = systemClock.nowMs()
  const unpriced = modelIds.filter((model) => !hasPrice(prices, { organizationId: home.organizationId, model, nowMs }))
  if (unpriced.length > 0 && (pricesRequired || unpriced.length < modelIds.length)) {
    const what = pricesRequired ? 'requests for them are refused' : 'their usage is recorded without a cost'
    log.warn({ models: unpriced }, `these models have no price, at least for ${home.organizationId}: ${what}`)
  }
  const deliveryOptions = { db, clock: systemClock, log, hashKey: secrets.keyHashSecret, reversalsPerKeyDayMax }
  const deliveries = createDeliveries(deliveryOptions)
  const refusals = createRefusals({ db, clock: systemClock, log, metrics })
  const jobs = { clock: systemClock, log, ledgerDaysMax }
  const stopJobs =
    config.databaseUrl === null
      ? startLedgerJobsThread({ ...jobs, path: sqlitePath(config) })
      : startLedgerJobs({ ...jobs, db })
  return {
    prices,
    deliveries,
    hashEndUser: createEndUserHash(secrets.endUserKey),
    refusals,
    async close() {
      prices.stop()
      await deliveries.close()
      await refusals.close()
      await stopJobs()
    },
  }
}

type Asked = { readonly organizationId: OrganizationId; readonly model: string; readonly nowMs: number }

/** A price that is needed or cannot be used is an error of each request and not of the start: others have theirs. */
function hasPrice(prices: PriceBook, { organizationId, model, nowMs }: Asked): boolean {
  try {
    return prices.find(organizationId, model, nowMs) !== null
  } catch {
    return false
  }
}
