import { ApiError } from '../../core/error.ts'
import type { LedgerWriter, NewLedgerRow } from './writer/ledger-writer.ts'
import type { LedgerEntry, RequestOrigin } from './ledger-entry.ts'
import type { CacheReport } from '../../core/generation.ts'
import { toCostColumns } from './cost-columns.ts'
import { tokenColumns, toTokenColumns } from './token-columns.ts'

export interface Ledger {
  /** Resolves once the row is on the disk. Appending the same request again changes nothing. */
  append(entry: LedgerEntry): Promise<void>
  /** Throws `overloaded` while no row can be written: what cannot be recorded is not begun. */
  requireWritable(): void
}

/** A ledger over the writer of its database, which lets entries that arrive together share a commit. */
export function createLedger(rows: LedgerWriter): Ledger {
  return {
    append: (entry) => rows.write([toCharge(entry)]),
    requireWritable() {
      const fault = rows.fault()
      if (fault === null) return
      const message = 'Requests cannot be recorded at the moment. Please try again.'
      throw new ApiError({ code: 'overloaded', retryAfterMs: 5_000 }, message, { cause: fault })
    },
  }
}

const noCost = { cost_micros: null, cost_rest_picos: null }

export function toCharge(entry: LedgerEntry): NewLedgerRow {
  const { requestId, principal, usage, cache, charge, origin } = entry
  const { apiKeyId, quotaId = apiKeyId } = principal
  return {
    request_id: requestId,
    kind: 'charge',
    at: entry.atMs,
    admitted_at: entry.admittedAtMs,
    organization_id: principal.organizationId,
    project_id: principal.projectId,
    api_key_id: apiKeyId,
    quota_id: quotaId === apiKeyId ? null : quotaId,
    model: entry.model,
    outcome: entry.outcome,
    reason: entry.reason,
    ...toTokenColumns(usage),
    price_id: charge?.priceId ?? null,
    ...(charge === null ? noCost : toCostColumns(charge.costPicos)),
    first_event_ms: rounded(entry.firstEventMs),
    first_token_ms: rounded(entry.firstTokenMs),
    duration_ms: Math.round(entry.durationMs),
    replica: entry.replica ?? null,
    routing: entry.routing === undefined ? null : JSON.stringify(entry.routing),
    count_source: entry.countSource ?? null,
    ...cacheColumns(cache),
    ...originColumns(origin),
  }
}

/** The ledger row that voids a charge: everything as in the charge, with its counts and its cost below zero. */
export function toReversal(charge: NewLedgerRow, atMs: number): NewLedgerRow {
  const counts = Object.fromEntries(tokenColumns.map((column) => [column, below(charge[column])]))
  const cost = { cost_micros: belowOrNull(charge.cost_micros), cost_rest_picos: belowOrNull(charge.cost_rest_picos) }
  return { ...charge, ...counts, ...cost, kind: 'reversal', at: atMs }
}

function cacheColumns(cache: CacheReport | null) {
  return {
    cache_source: cache?.source ?? null,
    cache_differs_at: cache?.differs?.atToken ?? null,
    cache_differs_in: cache?.differs?.in ?? null,
  }
}

function originColumns(origin: RequestOrigin | undefined) {
  const tags = origin?.attributed?.tags ?? null
  return {
    protocol: origin?.protocol ?? null,
    is_stream: origin === undefined ? null : Number(origin.isStream),
    client_request_id: origin?.clientRequestId ?? null,
    body_hash: origin?.bodyHash ?? null,
    end_user: origin?.attributed?.endUser ?? null,
    tags: tags === null ? null : JSON.stringify(tags),
  }
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms)
}

function belowOrNull(count: number | null): number | null {
  return count === null ? null : below(count)
}

/** Zero stays zero: there is a negative one, which is another number to some. */
function below(count: number): number {
  return count === 0 ? 0 : -count
}
