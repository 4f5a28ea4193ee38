import type { Ledger } from '../billing/ledger/ledger.ts'
import type { LedgerEntry } from '../billing/ledger/ledger-entry.ts'
import { modelIds } from '../core/model.ts'
import type { Clock } from '../lib/clock.ts'
import type { GenerationRecord } from '../telemetry/generation-record.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Tracing } from '../telemetry/trace.ts'

export type LedgerWatchers = { readonly metrics: Metrics; readonly tracing: Tracing; readonly clock: Clock }

/** A ledger whose entries are also counted and traced: what the numbers say is what was billed. */
export function watchLedger(ledger: Ledger, { metrics, tracing, clock }: LedgerWatchers): Ledger {
  return {
    requireWritable: () => ledger.requireWritable(),
    async append(entry) {
      const record = toRecord(entry)
      if (record !== null) {
        metrics.generated(record)
        tracing.record(record)
      }
      const startedMs = clock.monotonicMs()
      let isWritten = false
      try {
        await ledger.append(entry)
        isWritten = true
      } finally {
        metrics.recorded(clock.monotonicMs() - startedMs, isWritten)
      }
    },
  }
}

/** Null for a model that is not offered, which no label may name. */
function toRecord(entry: LedgerEntry): GenerationRecord | null {
  const { requestId, outcome, reason, usage, charge, firstEventMs, firstTokenMs, durationMs } = entry
  const model = modelIds.find((id) => id === entry.model)
  if (model === undefined) return null
  return {
    requestId,
    model,
    outcome,
    reason,
    usage,
    // The first event says that a slot was found.
    queueMs: firstEventMs,
    prefillMs: firstTokenMs === null || firstEventMs === null ? null : firstTokenMs - firstEventMs,
    firstTokenMs,
    durationMs,
    costMicros: charge?.costMicros ?? null,
  }
}
