import type { LifeSigns } from '../billing/availability/life-signs.ts'
import type { LedgerEntry } from '../billing/ledger/ledger-entry.ts'
import type { Ledger } from '../billing/ledger/ledger.ts'
import { chargeFor, type PriceInForce } from '../billing/prices/price.ts'
import type { Refusals } from '../billing/refusals/refusals.ts'
import type { CountSource, Prepared, RoutingReason } from '../core/engine.ts'
import { ApiError } from '../core/error.ts'
import type { OrganizationId } from '../core/ids.ts'
import {
  addAnswer,
  inputTokens,
  zeroUsage,
  type CacheReport,
  type GenerationEvent,
  type Usage,
} from '../core/generation.ts'
import { picosPerMicro } from '../core/money.ts'
import { modelIds, type ModelId } from '../core/model.ts'
import { judgeRequest } from '../core/refusal.ts'
import { deadline, type Clock } from '../lib/clock.ts'
import type { Admission } from '../limits/open-admission.ts'
import type { GenerationRecord } from '../telemetry/generation-record.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Tracing } from '../telemetry/trace.ts'
import type { Asked } from './asked.ts'

/** Counts one of a request's answers. */
export type AnswerMeter = {
  /** Returns what the answer has used so far. */
  count(event: GenerationEvent): Usage
  /** Notes that a copy of the model was given it, where the engine says when. */
  placed(): void
  /** Notes which copy of the model works on it, and whose its counts are. */
  servedBy(prepared: Pick<Prepared, 'replica' | 'routing' | 'countSource'>): void
  /** Takes the engine's own final counts of an answer that was aborted, where they are ahead of its events. */
  correct(final: Usage): void
}

export type Measured = {
  readonly usage: Usage
  readonly cache: CacheReport | null
  readonly replica?: string
  readonly routing?: RoutingReason
  readonly countSource?: CountSource
  readonly firstEventMs: number | null
  readonly firstTokenMs: number | null
}

/**
 * Follows the events of a request's answers as they are made.
 *
 * It is the only one that counts: slots are charged, limits settled and the ledger's row written by what it says.
 */
export class Meter {
  readonly #elapsedMs: () => number
  readonly #onToken: () => void
  /** The usage of each answer, in the order of the answers. */
  readonly #usages: Usage[]
  #cache: CacheReport | null = null
  #replica: string | null = null
  #routing: RoutingReason | null = null
  #countSource: CountSource | null = null
  /** When each answer was given to the copy that has it, by their numbers. */
  readonly #placedMs: number[] = []
  #firstEventMs: number | null = null
  #firstTokenMs: number | null = null

  constructor(choiceCount: number, elapsedMs: () => number, onToken: () => void = () => {}) {
    this.#onToken = onToken
    this.#usages = Array.from({ length: choiceCount }, () => zeroUsage)
    this.#elapsedMs = elapsedMs
  }

  /** Returns the meter of one answer, by its number. */
  of(answer: number): AnswerMeter {
    return {
      count: (event) => {
        // The first event says that a slot was found, unless the engine has said so before.
        this.#firstEventMs ??= this.#placedMs[answer] ?? this.#elapsedMs()
        // Further answers to the same request find its prompt in the cache, which says nothing about the request.
        if (event.type === 'start') this.#cache ??= event.cache ?? null
        if (event.type === 'delta') {
          this.#firstTokenMs ??= this.#elapsedMs()
          this.#onToken()
        }
        return (this.#usages[answer] = usageAfter(this.#usages[answer] ?? zeroUsage, event))
      },
      placed: () => {
        // What comes of an answer that has begun is no wait any more.
        if (this.#firstEventMs === null) this.#placedMs[answer] = this.#elapsedMs()
      },
      servedBy: ({ replica, routing, countSource }) => {
        this.#routing = routing ?? this.#routing
        this.#replica = replica ?? this.#replica
        this.#countSource = countSource ?? this.#countSource
      },
      correct: (final) => {
        const counted = this.#usages[answer] ?? zeroUsage
        if (final.output >= counted.output && inputTokens(final) > 0) this.#usages[answer] = final
      },
    }
  }

  /** Whether the engine has begun with any of the answers. */
  get hasBegun(): boolean {
    return this.#firstEventMs !== null
  }

  read(): Measured {
    return {
      usage: this.#usages.reduce(addAnswer, zeroUsage),
      cache: this.#cache,
      ...(this.#replica !== null && { replica: this.#replica }),
      ...(this.#routing !== null && { routing: this.#routing }),
      ...(this.#countSource !== null && { countSource: this.#countSource }),
      firstEventMs: this.#firstEventMs ?? this.#placedMs.find(Number.isFinite) ?? null,
      firstTokenMs: this.#firstTokenMs,
    }
  }
}

function usageAfter(usage: Usage, event: GenerationEvent): Usage {
  if (event.type === 'start' || event.type === 'finish') return event.usage
  return event.type === 'delta' ? { ...usage, output: usage.output + event.tokens } : usage
}

export type SettlementParts = {
  readonly ledger: Ledger
  readonly refusals: Refusals
  readonly clock: Clock
  /** Told whenever a model has shown that it works. */
  readonly signs?: Pick<LifeSigns, 'seen'> | undefined
}

/** What of a request is settled by the moment of its admission. */
export type AdmittedAt = {
  readonly atMs: number
  /** Null where there is none. */
  readonly price: PriceInForce | null
}

export type Settlement = {
  readonly meter: Meter
  /** Writes the one ledger row; a second call changes nothing. */
  close(outcome: LedgerEntry['outcome'], reason: string | null): Promise<void>
  /** The request was turned away: it is counted instead, and gives back all it had taken. */
  refuse(error: unknown): void
}

/** A database that is slow holds the last bytes of an answer up no longer. */
const returnMsMax = 1_000

/** Keeps the account of one request from its admission, which decided its price, to its ledger row. */
export function createSettlement(
  { ledger, refusals, clock, signs }: SettlementParts,
  { requestId, principal, request, origin }: Asked,
  admitted: AdmittedAt,
  admission: Pick<Admission, 'settle' | 'returned'>,
): Settlement {
  const startedMs = clock.monotonicMs()
  const elapsedMs = () => clock.monotonicMs() - startedMs
  const meter = new Meter(request.choiceCount, elapsedMs, () => signs?.seen(request.model))
  let isClosed = false
  return {
    meter,
    refuse(error) {
      if (isClosed) return
      isClosed = true
      refusals.count(principal.organizationId, error, request.model)
      admission.settle({ usage: zeroUsage, costPicos: 0n, atMs: clock.nowMs() })
    },
    async close(outcome, reason) {
      if (isClosed) return
      isClosed = true
      const measured = meter.read()
      const entry: LedgerEntry = {
        requestId,
        principal,
        atMs: clock.nowMs(),
        admittedAtMs: admitted.atMs,
        model: request.model,
        outcome,
        reason,
        ...measured,
        charge: chargeFor(admitted.price, measured.usage, outcome),
        durationMs: clock.monotonicMs() - startedMs,
        ...(origin !== undefined && { origin }),
      }
      try {
        await ledger.append(entry)
      } catch (error) {
        // Nothing is served unrecorded: a full disk stops the service and not the bookkeeping.
        const failure = unrecorded(error)
        refusals.count(principal.organizationId, failure, request.model)
        throw failure
      } finally {
        // Not before the row is there: whoever sums the ledger up and what is settled must find it in one of them.
        admission.settle({ usage: entry.usage, costPicos: entry.charge?.costPicos ?? 0n, atMs: entry.atMs })
      }
      // A client that has read its answer may ask another gateway at once, which has to find its place.
      const returned = admission.returned()
      if (returned !== null) await deadline(clock, returnMsMax, returned).catch(() => {})
    },
  }
}

function unrecorded(cause: unknown): ApiError {
  const reason = { code: 'overloaded', retryAfterMs: 5_000 } as const
  return new ApiError(reason, 'The request could not be recorded. Please try again.', { cause })
}

export type LedgerWatchers = {
  readonly metrics: Metrics
  readonly tracing: Tracing
  readonly clock: Clock
  /** The wait for a first token that was agreed with an organization; null where none was. */
  agreedFirstTokenMs(organizationId: OrganizationId, atMs: number): number | null
}

/** A ledger whose entries are also counted and traced: what the numbers say is what was billed. */
export function watchLedger(ledger: Ledger, watchers: LedgerWatchers): Ledger {
  const { metrics, tracing, clock } = watchers
  return {
    requireWritable: () => ledger.requireWritable(),
    async append(entry) {
      const record = toRecord(entry)
      if (record !== null) tracing.record(record)
      const startedMs = clock.monotonicMs()
      let isWritten = false
      try {
        await ledger.append(entry)
        isWritten = true
        // A request without a row is charged to nobody, and counted as one that was not served.
        if (record !== null) {
          metrics.generated(record)
          judge(record.model, entry, watchers)
        }
      } finally {
        metrics.recorded(clock.monotonicMs() - startedMs, isWritten)
      }
    },
  }
}

function judge(model: ModelId, entry: LedgerEntry, { metrics, agreedFirstTokenMs }: LedgerWatchers): void {
  const verdict = judgeRequest(entry, agreedFirstTokenMs(entry.principal.organizationId, entry.atMs))
  if (verdict !== null) metrics.judged(model, verdict)
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
    queueMs: firstEventMs,
    prefillMs: firstTokenMs === null || firstEventMs === null ? null : firstTokenMs - firstEventMs,
    firstTokenMs,
    durationMs,
    costMicros: charge === null ? null : Number(charge.costPicos) / Number(picosPerMicro),
  }
}
