import type { Usage } from '../../core/generation.ts'
import { chargeFor, type PriceInForce } from '../prices/price.ts'
import type { LedgerLine } from '../ledger/read-ledger.ts'
import { fromTokenColumns } from '../ledger/token-columns.ts'

/** What a row costs at a price, in micro-units. A reversal takes a charge back: its counts and its cost are below zero. */
export function costOfLine(row: LedgerLine, price: PriceInForce | null): number {
  const isReversal = row.kind === 'reversal'
  const usage = fromTokenColumns(row)
  const cost = chargeFor(price, isReversal ? negated(usage) : usage, row.outcome)?.costMicros ?? 0
  return isReversal && cost !== 0 ? -cost : cost
}

function negated(usage: Usage): Usage {
  return Object.fromEntries(Object.entries(usage).map(([name, count]) => [name, -count])) as Usage
}
