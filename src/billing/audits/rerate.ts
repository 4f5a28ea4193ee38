import type { Database } from '../../db/database.ts'
import { type Price, chargeFor, type PriceInForce } from '../prices/price.ts'
import { createPriceBook } from '../prices/price-book.ts'
import { readLedger, type LedgerRange, type LedgerRow } from '../ledger/read-ledger.ts'
import { fromCostColumns } from '../ledger/cost-columns.ts'
import type { Usage } from '../../core/generation.ts'
import { fromTokenColumns } from '../ledger/token-columns.ts'

export type Rerating = {
  readonly organizationId: string
  readonly model: string
  requests: number
  /** The sum that was charged, and the sum at the other prices. */
  chargedPicos: bigint
  wouldPicos: bigint
}

/** Adds up what the requests of a time would have cost at other prices. Writes nothing. */
export async function rerate(db: Database, prices: readonly Price[], range: LedgerRange): Promise<Rerating[]> {
  const book = createPriceBook(prices)
  const sums = new Map<string, Rerating>()
  for await (const page of readLedger(db, range)) {
    for (const row of page) {
      const { organization_id: organizationId, model } = row
      const key = `${organizationId} ${model}`
      const sum = sums.get(key) ?? { organizationId, model, requests: 0, chargedPicos: 0n, wouldPicos: 0n }
      sums.set(key, sum)
      sum.requests += row.kind === 'charge' ? 1 : 0
      sum.chargedPicos += fromCostColumns(row) ?? 0n
      sum.wouldPicos += costOfRow(row, book.find(organizationId, model, row.admitted_at ?? row.at))
    }
  }
  return [...sums.values()].toSorted((a, b) => (a.organizationId + a.model < b.organizationId + b.model ? -1 : 1))
}

/** The exact cost of a ledger row at a price, in pico-units. The counts and the cost of a reversal are below zero. */
export function costOfRow(row: LedgerRow, price: PriceInForce | null): bigint {
  const isReversal = row.kind === 'reversal'
  const usage = fromTokenColumns(row)
  const cost = chargeFor(price, isReversal ? negated(usage) : usage, row.outcome)?.costPicos ?? 0n
  return isReversal ? -cost : cost
}

function negated(usage: Usage): Usage {
  return Object.fromEntries(Object.entries(usage).map(([name, count]) => [name, -count])) as Usage
}
