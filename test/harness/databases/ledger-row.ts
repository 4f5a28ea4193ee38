import type { NewLedgerRow } from '../../../src/billing/ledger/writer/ledger-writer.ts'

/** A row of a request of its own. */
export function ledgerRow(number: number): NewLedgerRow {
  return {
    request_id: `req_${number}`,
    kind: 'charge',
    at: 1_800_000_000_000 + number,
    admitted_at: 1_800_000_000_000,
    organization_id: 'org_1',
    project_id: 'proj_1',
    api_key_id: 'key_1',
    quota_id: null,
    model: 'clarke-1.0',
    protocol: 'messages',
    is_stream: 1,
    outcome: 'finished',
    reason: 'end',
    input_uncached: 3,
    input_cache_read: 2,
    input_cache_write: 1,
    input_cache_write_long: 0,
    output: number,
    output_thinking: 0,
    price_id: null,
    cost_micros: null,
    cost_rest_picos: null,
    first_event_ms: 2,
    first_token_ms: 3,
    duration_ms: 12,
    cache_source: 'slot',
    cache_differs_at: 2,
    cache_differs_in: 'user message 1, block 1',
    count_source: null,
    replica: null,
    client_request_id: null,
    body_hash: null,
  }
}
