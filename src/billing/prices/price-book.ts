import { ApiError } from '../../core/error.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { modelIds, type ModelId } from '../../core/model.ts'
import type { Price, PriceInForce } from './price.ts'
import type { ChangeFeed } from '../../db/change-feed.ts'
import type { Database } from '../../db/database.ts'
import type { Log } from '../../telemetry/log.ts'
import { readPrices } from './prices.ts'

export interface PriceBook {
  /**
   * The price of a request that is admitted at that time, for no organization that of whoever has none of their own; null
   * where there is none and none is needed. Throws `UnusablePrice` where the row in force is unsound: neither the price
   * before it nor none is what was meant.
   */
  find(organizationId: OrganizationId | null, model: string, atMs: number): PriceInForce | null
}

/** A request is refused rather than billed wrongly. Its cause names the row. */
export class UnusablePrice extends ApiError {
  readonly price: Price

  constructor(price: Price) {
    const cause = new Error(`The price ${price.id} of ${price.model} cannot be used: ${price.fault}`)
    super(
      { code: 'overloaded', retryAfterMs: 30_000 },
      `The price of ${price.model} is being corrected. Please try again.`,
      { cause },
    )
    this.price = price
  }
}

/** Finds prices in memory. An organization's own price counts whole: no rate of the general one is mixed in. */
export function createPriceBook(prices: readonly Price[]): PriceBook {
  const byScope = Map.groupBy(prices.toSorted(inOrder), scopeOf)
  const latest = (organizationId: OrganizationId | null, model: string, atMs: number): PriceInForce | null => {
    const last = byScope.get(scopeOf({ organizationId, model }))?.findLast(({ effectiveAtMs }) => effectiveAtMs <= atMs)
    if (last !== undefined && last.fault !== null) throw new UnusablePrice(last)
    return last === undefined || last.rates === null ? null : { ...last, rates: last.rates }
  }
  return {
    find: (organizationId, model, atMs) => latest(organizationId, model, atMs) ?? latest(null, model, atMs),
  }
}

/** The models that cost an organization nothing, which no amount of money bounds. */
export function findUnpriced(
  prices: readonly Price[],
  { organizationId, atMs }: { readonly organizationId: OrganizationId; readonly atMs: number },
): ModelId[] {
  // One that cannot be used is none: what is to be said of it is the same, that a price has to be set.
  const usable = createPriceBook(prices.filter(({ fault }) => fault === null))
  return modelIds.filter((model) => usable.find(organizationId, model, atMs) === null)
}

/** Prices by time; the later made of two for the same moment comes last and so counts. */
function inOrder(a: Price, b: Price): number {
  return a.effectiveAtMs - b.effectiveAtMs || a.createdAtMs - b.createdAtMs
}

/** Whose price for which model it is: of those with one scope the latest is in force. */
export function scopeOf({ organizationId, model }: Pick<Price, 'organizationId' | 'model'>): string {
  return `${organizationId ?? ''} ${model}`
}

export type LivePriceBookOptions = {
  readonly db: Database
  /** Says when prices were added. */
  readonly feed: ChangeFeed
  readonly log: Log
  /** The installation's: a price in another cannot be used. */
  readonly currency: string
  /** Whether a request without a price is refused. */
  readonly isRequired: boolean
}

export type LivePriceBook = PriceBook & {
  stop(): void
}

/** The prices of the database, found without asking it. Rows that cannot be used are told and hide no others. */
export async function openPriceBook({
  db,
  feed,
  log,
  currency,
  isRequired,
}: LivePriceBookOptions): Promise<LivePriceBook> {
  let seen: number | null = null
  let book: PriceBook
  const read = async (): Promise<void> => {
    // Read before the prices: one that is added meanwhile is read twice and not missed.
    const { prices: counter } = await feed.read()
    if (counter === seen) return
    const prices = await readPrices(db, currency)
    for (const { id, model, organizationId, fault } of prices.filter((price) => price.fault !== null)) {
      const words = 'a price cannot be used: from its time on requests it is for are refused; see odyssey prices void'
      log.error({ price: id, model, organization_id: organizationId, fault }, words)
    }
    book = createPriceBook(prices)
    seen = counter
  }
  await read()
  const unsubscribe = feed.subscribe('prices', ({ counter }) => {
    if (counter === seen) return
    read().catch((error: unknown) => {
      // The prices read before hold until they can be read again.
      log.error({ error }, 'the prices could not be read anew')
    })
  })
  return {
    find(organizationId, model, atMs) {
      const price = book.find(organizationId, model, atMs)
      if (price === null && isRequired) {
        throw new ApiError({ code: 'permission-denied' }, `${model} has no price for this organization yet.`)
      }
      return price
    },
    stop: unsubscribe,
  }
}
