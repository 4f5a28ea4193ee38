import type { PriceId } from '../../db/tables/billing.ts'
import type { Price, PriceInForce } from '../prices/price.ts'
import { createPriceBook } from '../prices/price-book.ts'
import type { LedgerLine } from '../ledger/read-ledger.ts'
import { tokenColumns } from '../ledger/token-columns.ts'
import { costOfLine } from './cost-of-line.ts'

/** Says what is wrong with a row; null where its cost is what its price and its tokens make it. */
export type VerifyRow = (row: LedgerLine) => string | null

export function createRowVerifier(prices: readonly Price[]): VerifyRow {
  const byId = new Map(prices.map((price) => [price.id, price]))
  const book = createPriceBook(prices)
  const priceInForce = (row: LedgerLine): PriceId | null =>
    row.admitted_at === null ? row.price_id : (book.find(row.organization_id, row.model, row.admitted_at)?.id ?? null)
  return (row) => {
    const sign = row.kind === 'reversal' ? -1 : 1
    if (tokenColumns.some((column) => row[column] * sign < 0)) return 'its tokens have the wrong sign'
    const inForce = priceInForce(row)
    if (inForce !== row.price_id) {
      return `when it was admitted the price was ${inForce ?? 'none'} and not ${row.price_id ?? 'none'}`
    }
    if (row.price_id === null) return row.cost_micros === null ? null : 'it has a cost and no price'
    return faultOfCost(row, byId.get(row.price_id))
  }
}

function faultOfCost(row: LedgerLine, price: Price | undefined): string | null {
  if (price === undefined) return `its price ${row.price_id} does not exist`
  if (!isInForce(price)) return `its price ${price.id} has no rates`
  if (price.model !== row.model) return `its price is that of ${price.model}`
  if (price.organizationId !== null && price.organizationId !== row.organization_id) {
    return `its price is that of ${price.organizationId}`
  }
  const cost = costOfLine(row, price)
  return cost === row.cost_micros ? null : `it costs ${cost} micro-units and not ${row.cost_micros}`
}

function isInForce(price: Price): price is PriceInForce {
  return price.rates !== null
}
