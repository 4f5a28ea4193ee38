import type { Generated } from 'kysely'
import type { CacheReport } from '../../core/generation.ts'
import type { ApiKeyId, OrganizationId, ProjectId, RequestId } from '../../core/ids.ts'

export type PriceId = `price_${string}`

/** Token counts as the ledger and the rollups have them; those of a reversal are negative. */
export type TokenColumns = {
  readonly input_uncached: number
  readonly input_cache_read: number
  readonly input_cache_write: number
  /** The part of `input_cache_write` that is kept for an hour. */
  readonly input_cache_write_long: number
  readonly output: number
  readonly output_thinking: number
}

/** The cost of a ledger row. Both parts have the same sign. */
export type CostColumns = {
  /** Whole micro-units; null, like the price, where the model had none. */
  readonly cost_micros: number | null
  /** The rest below a micro-unit, in millionths of one; null in rows from when costs were rounded to whole ones. */
  readonly cost_rest_picos: number | null
}

/** A request has one charge, written once and never changed, and at most one reversal that voids it. */
export type LedgerTable = TokenColumns &
  CostColumns & {
    /** The order of the ledger. It grows with every row, which the clock does not promise. */
    readonly sequence: Generated<number>
    readonly request_id: RequestId
    readonly kind: 'charge' | 'reversal'
    /** When the row was made: the hour and the day it counts in. */
    readonly at: number
    /** When the request was admitted, which decides its price; unknown in rows from before there were prices. */
    readonly admitted_at: number | null
    readonly organization_id: OrganizationId
    readonly project_id: ProjectId
    readonly api_key_id: ApiKeyId
    /** The key whose limits counted, where that is another one. */
    readonly quota_id: ApiKeyId | null
    readonly model: string
    readonly protocol: string | null
    readonly is_stream: number | null
    readonly outcome: 'finished' | 'aborted' | 'failed'
    /** Why a finished generation ended, or the error code of a failed one. */
    readonly reason: string | null
    /** Null, like the cost, where the model had no price. */
    readonly price_id: PriceId | null
    /** From admission to the first event, which comes when the request has got its slot; null when there was none. */
    readonly first_event_ms: number | null
    /** From admission to the first token of the answer. */
    readonly first_token_ms: number | null
    readonly duration_ms: number
    readonly cache_source: CacheReport['source'] | null
    /** The first token that differs from the nearest prompt held, and the part of the request it belongs to. */
    readonly cache_differs_at: number | null
    readonly cache_differs_in: string | null
    /** Which copy of a remote engine answered. */
    readonly replica: string | null
    /** Why that one was chosen, as JSON of a `RoutingReason`; null where there was nothing to choose. */
    readonly routing: string | null
    /** Whose word the counts are: an engine's elsewhere, or bounds where it has not said any; null for our own. */
    readonly count_source: 'reported' | 'estimated' | null
    /** The id a client gave the request in its own header. */
    readonly client_request_id: string | null
    /** A keyed hash by which the same body sent again is recognised. */
    readonly body_hash: string | null
    /** Whom the client says it is for, by its name or a hash, as the organization lets it be kept. */
    readonly end_user: string | null
    /** JSON of the client's labels that the organization lets be kept; null where there are none. */
    readonly tags: string | null
  }

/** What became of an answer; kept as long as a client may send the request again. */
export type DeliveryTable = {
  readonly request_id: RequestId
  readonly at: number
  /** Its last byte has left; it never will; or it has not yet, as its gateway says again and again. */
  readonly state: 'arrived' | 'lost' | 'under-way'
}

/** A request that its client sent before and whose answer has arrived, until the charges for those that did not are void. */
export type RepetitionTable = {
  readonly request_id: RequestId
  readonly organization_id: OrganizationId
  readonly api_key_id: ApiKeyId
  readonly body_hash: string
  readonly at: number
}

/** Micro-units of the currency per million tokens. Rows are added and never changed. */
export type PriceTable = {
  readonly id: PriceId
  /** Null is everyone without a price of their own. */
  readonly organization_id: OrganizationId | null
  readonly model: string
  /** Admissions from this time on have this price, until a later row takes over. */
  readonly effective_at: number
  readonly currency: string
  /** From here on there is no price: an organization's own gives way to the general one, and that to none. */
  readonly is_end: number
  readonly input: number
  readonly cache_read: number
  readonly cache_write_short: number
  readonly cache_write_long: number
  readonly output: number
  readonly created_at: number
}

/** Sums of the ledger by the hour (`usage_hours`) or by the UTC day (`usage_days`) that begins at `at`. */
export type UsageTable = TokenColumns & {
  readonly organization_id: OrganizationId
  readonly at: number
  readonly project_id: ProjectId
  readonly api_key_id: ApiKeyId
  readonly model: string
  readonly requests: number
  readonly finished: number
  readonly aborted: number
  readonly failed: number
  readonly reversed: number
  /** Requests for which there was no price. */
  readonly unpriced: number
  /** Whole micro-units, and beside them millionths of one, which may come to more than a whole one. */
  readonly cost_micros: number
  readonly cost_rest_picos: number
}

/** What was asked in a project in each of the last minutes, by the beginning of the minute. */
export type RecentMinuteTable = {
  readonly organization_id: OrganizationId
  readonly at: number
  readonly project_id: ProjectId
  readonly requests: number
  readonly failed: number
  readonly aborted: number
  readonly output: number
}

/** Sums of the ledger by the hour and by whom requests are for; a request counts once in each dimension that it has. */
export type AttributedHourTable = UsageTable & {
  /** `user`, or `tag:` and the tag's key. */
  readonly dimension: string
  readonly value: string
}

/** What is told apart of a dimension on a day of UTC. */
export type AttributionValueTable = {
  readonly organization_id: OrganizationId
  readonly dimension: string
  readonly day: number
  readonly value: string
}

/** One row: the last row of the ledger that the sums by whom requests are for contain. */
export type AttributionProgressTable = { readonly id: 1; rolled_up_to: number }

/** One row: how far the work on the ledger has come. */
export type LedgerProgressTable = {
  readonly id: 1
  /** The last row that the rollups contain. */
  rolled_up_to: number
  /** Rows up to this one may be deleted; 0 but for the moment in which the retention job deletes. */
  deletable_to: number
  /** Rows from before this time may have been deleted. */
  kept_from: number
  /** The last row that the reconciliation has counted, and the sums until there, as JSON. */
  reconciled_to: number
  reconciled_sums: string
}

/** Requests that were turned away in the minute that begins at `at`. */
export type RefusalTable = {
  /** Empty where nobody knows whose requests they were. */
  readonly organization_id: OrganizationId | ''
  readonly at: number
  /** The code of the error that their clients were told. */
  readonly class: string
  readonly requests: number
}

export type ReconciliationTable = {
  readonly id: string
  readonly at: number
  /** The ledger until here was compared. */
  readonly sequence: number
  readonly is_equal: number
  /** What differs, as JSON. */
  readonly differences: string
}
