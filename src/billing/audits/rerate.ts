import type { Database } from '../../db/database.ts'
import type { Price } from '../prices/price.ts'
import { createPriceBook } from '../prices/price-book.ts'
import { readLedger, type LedgerRange } from '../ledger/read-ledger.ts'
import { costOfLine } from './cost-of-line.ts'

export type Rerating = {
  readonly organizationId: string
  readonly model: string
  requests: number
  /** What was charged, and what would have been. */
  chargedMicros: bigint
  wouldMicros: bigint
}

/** Adds up what the requests of a time would have cost at other prices. Writes nothing. */
export async function rerate(db: Database, prices: readonly Price[], range: LedgerRange): Promise<Rerating[]> {
  const book = createPriceBook(prices)
  const sums = new Map<string, Rerating>()
  for await (const page of readLedger(db, range)) {
    for (const row of page) {
      const { organization_id: organizationId, model } = row
      const key = `${organizationId} ${model}`
      const sum = sums.get(key) ?? { organizationId, model, requests: 0, chargedMicros: 0n, wouldMicros: 0n }
      sums.set(key, sum)
      sum.requests += row.kind === 'charge' ? 1 : 0
      sum.chargedMicros += BigInt(row.cost_micros ?? 0)
      sum.wouldMicros += BigInt(costOfLine(row, book.find(organizationId, model, row.admitted_at ?? row.at)))
    }
  }
  return [...sums.values()].toSorted((a, b) => (a.organizationId + a.model < b.organizationId + b.model ? -1 : 1))
}
