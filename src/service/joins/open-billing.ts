import { createDeliveries, type Deliveries } from '../../billing/deliveries/deliveries.ts'
import { startLedgerJobs } from '../../billing/ledger-jobs.ts'
import { startLedgerJobsThread } from '../../billing/ledger-jobs-thread.ts'
import { openPriceBook, type LivePriceBook } from '../../billing/prices/live-price-book.ts'
import type { Config } from '../../config/schema.ts'
import { modelIds } from '../../core/model.ts'
import { sqlitePath } from '../../db/database-place.ts'
import type { RowWriter } from '../../billing/ledger/write-ahead/row-writer.ts'
import { systemClock } from '../../lib/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Accounts } from './open-accounts.ts'

export type Billing = {
  readonly prices: LivePriceBook
  readonly deliveries: Deliveries
  close(): Promise<void>
}

export type BillingParts = {
  readonly accounts: Pick<Accounts, 'db' | 'home' | 'secrets'>
  readonly rows: RowWriter
  readonly config: Config
  readonly log: Log
}

/** The prices of a service and the work on its ledger. Throws where it could bill wrongly. */
export async function openBilling({ accounts, rows, config, log }: BillingParts): Promise<Billing> {
  const { db, home, secrets } = accounts
  const { currency, pricesRequired, ledgerDaysMax } = config.billing
  const prices = await openPriceBook({ db, clock: systemClock, log, currency })
  const nowMs = systemClock.nowMs()
  const unpriced = modelIds.filter((model) => prices.find(home.organizationId, model, nowMs) === null)
  if (pricesRequired && unpriced.length > 0) {
    prices.stop()
    throw new Error(
      `billing.pricesRequired is set and these have no price in force: ${unpriced.join(', ')}. See odyssey prices set.`,
    )
  }
  if (unpriced.length > 0 && unpriced.length < modelIds.length) {
    log.warn(
      { models: unpriced },
      'some models have a price and these have none: their usage is recorded without a cost',
    )
  }
  const deliveries = createDeliveries({ db, rows, clock: systemClock, log, hashKey: secrets.keyHashSecret })
  const jobs = { clock: systemClock, log, ledgerDaysMax }
  const stopJobs =
    config.databaseUrl === null
      ? startLedgerJobsThread({ ...jobs, path: sqlitePath(config) })
      : startLedgerJobs({ ...jobs, db })
  return {
    prices,
    deliveries,
    async close() {
      prices.stop()
      await deliveries.close()
      await stopJobs()
    },
  }
}
