import type { Ledger } from '../billing/ledger/ledger.ts'
import type { LedgerEntry } from '../billing/ledger/ledger-entry.ts'
import { chargeFor, type PriceInForce } from '../billing/prices/price.ts'
import type { PriceBook } from '../billing/prices/price-book.ts'
import { ApiError } from '../core/error.ts'
import type { Clock } from '../lib/clock.ts'
import type { Used } from '../limits/open-admission.ts'
import type { Asked } from './asked.ts'
import { Meter } from './meter.ts'

export type SettlementParts = { readonly ledger: Ledger; readonly prices: PriceBook; readonly clock: Clock }

export type Settlement = {
  /** The price at admission; null where there is none. */
  readonly price: PriceInForce | null
  readonly meter: Meter
  /** Writes the one ledger row; a second call changes nothing. */
  close(outcome: LedgerEntry['outcome'], reason: string | null): Promise<void>
}

/** Keeps the account of one request from its admission, which is now and decides its price, to its ledger row. */
export function createSettlement(
  { ledger, prices, clock }: SettlementParts,
  { requestId, principal, request, origin }: Asked,
  settled: (used: Used) => void,
): Settlement {
  const admittedAtMs = clock.nowMs()
  const startedMs = clock.monotonicMs()
  const price = prices.find(principal.organizationId, request.model, admittedAtMs)
  const meter = new Meter(request.choiceCount, () => clock.monotonicMs() - startedMs)
  let isClosed = false
  return {
    price,
    meter,
    async close(outcome, reason) {
      if (isClosed) return
      isClosed = true
      const measured = meter.read()
      const entry: LedgerEntry = {
        requestId,
        principal,
        atMs: clock.nowMs(),
        admittedAtMs,
        model: request.model,
        outcome,
        reason,
        ...measured,
        charge: chargeFor(price, measured.usage, outcome),
        durationMs: clock.monotonicMs() - startedMs,
        ...(origin !== undefined && { origin }),
      }
      try {
        await ledger.append(entry)
      } catch (error) {
        // Nothing is served unrecorded: a full disk stops the service and not the bookkeeping.
        throw new ApiError(
          { code: 'overloaded', retryAfterMs: 5_000 },
          'The request could not be recorded. Please try again.',
          { cause: error },
        )
      } finally {
        // Not before the row is there: whoever sums the ledger up and what is settled must find it in one of them.
        settled({ usage: entry.usage, costMicros: entry.charge?.costMicros ?? 0, atMs: entry.atMs })
      }
    },
  }
}
