import type { Database } from '../../db/database.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { createPriceBook, type PriceBook } from './price-book.ts'
import { priceLeadMs, readPrices, readPricesVersion } from './prices.ts'

/** Twice within the time that a price is set ahead. */
const lookEveryMs = priceLeadMs / 2 - 1_000

export type LivePriceBookOptions = {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  /** The only currency that prices may be in. */
  readonly currency: string
}

export type LivePriceBook = PriceBook & {
  /** Reads the prices anew. Prices set by another process are noticed without it. */
  reload(): Promise<void>
  stop(): void
}

/** The prices of the database, found without asking it. Throws where they cannot be used. */
export async function openPriceBook({ db, clock, log, currency }: LivePriceBookOptions): Promise<LivePriceBook> {
  let version = -1
  let book: PriceBook
  let cancel = () => {}
  const reload = async (): Promise<void> => {
    const now = await readPricesVersion(db)
    if (now === version) return
    const prices = await readPrices(db)
    const foreign = prices.find((price) => price.currency !== currency)
    if (foreign !== undefined) {
      throw new Error(
        `Prices are in ${foreign.currency} and billing.currency is ${currency}. An installation has one currency.`,
      )
    }
    book = createPriceBook(prices)
    version = now
  }
  const look = async (): Promise<void> => {
    await reload().catch((error: unknown) => {
      // What was read before goes on being charged until the database answers again.
      log.error({ error }, 'the prices could not be read anew')
    })
    lookAgain()
  }
  const lookAgain = () => {
    if (!isStopped) cancel = clock.after(lookEveryMs, () => void look())
  }
  let isStopped = false
  await reload()
  lookAgain()
  return {
    find: (organizationId, model, atMs) => book.find(organizationId, model, atMs),
    reload,
    stop() {
      isStopped = true
      cancel()
    },
  }
}
