import type { CacheReport } from '../../core/generation.ts'
import type { LedgerTable } from '../../db/tables/billing.ts'
import type { LedgerEntry, RequestOrigin } from './ledger-entry.ts'
import { tokenColumns, toTokenColumns } from './token-columns.ts'

export type NewLedgerRow = Omit<LedgerTable, 'sequence'>

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
    cost_micros: charge?.costMicros ?? null,
    first_event_ms: rounded(entry.firstEventMs),
    first_token_ms: rounded(entry.firstTokenMs),
    duration_ms: Math.round(entry.durationMs),
    replica: entry.replica ?? null,
    ...cacheColumns(cache),
    ...originColumns(origin),
  }
}

/** The row that voids a charge: everything as in the charge, and its counts and its cost below zero. */
export function toReversal(charge: NewLedgerRow, atMs: number): NewLedgerRow {
  const counts = Object.fromEntries(tokenColumns.map((column) => [column, below(charge[column])]))
  const cost = charge.cost_micros === null ? null : below(charge.cost_micros)
  return { ...charge, ...counts, kind: 'reversal', at: atMs, cost_micros: cost }
}

function cacheColumns(cache: CacheReport | null) {
  return {
    cache_source: cache?.source ?? null,
    cache_differs_at: cache?.differs?.atToken ?? null,
    cache_differs_in: cache?.differs?.in ?? null,
  }
}

function originColumns(origin: RequestOrigin | undefined) {
  return {
    protocol: origin?.protocol ?? null,
    is_stream: origin === undefined ? null : Number(origin.isStream),
    client_request_id: origin?.clientRequestId ?? null,
    body_hash: origin?.bodyHash ?? null,
  }
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms)
}

/** Zero stays zero: there is a negative one, which is another number to some. */
function below(count: number): number {
  return count === 0 ? 0 : -count
}
