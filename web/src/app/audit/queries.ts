import { addressOf, api, type AnswerOf, type QueryOf } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { readAll } from '../queries.ts'

type Asked = QueryOf<'GET /api/v1/organizations/{organizationId}/audit'>
type Changes = AnswerOf<'GET /api/v1/organizations/{organizationId}/audit'>
type Verdict = AnswerOf<'GET /api/v1/organizations/{organizationId}/audit/verify'>

/** Reads a part of an organization's log; without one, of the installation's. */
export function readChanges(organizationId: string | null, query: Asked, signal: AbortSignal): Promise<Changes> {
  if (organizationId === null) return api('GET /api/v1/audit', { query }, { signal })
  return api('GET /api/v1/organizations/{organizationId}/audit', { params: { organizationId }, query }, { signal })
}

export function verifyPart(organizationId: string | null, after: string | undefined): Promise<Verdict> {
  const query = after === undefined ? {} : { after }
  if (organizationId === null) return api('GET /api/v1/audit/verify', { query })
  return api('GET /api/v1/organizations/{organizationId}/audit/verify', { params: { organizationId }, query })
}

export function exportAddress(organizationId: string | null, format: 'csv' | 'jsonl'): string {
  if (organizationId === null) return addressOf('/api/v1/audit/export', {}, { format })
  return addressOf('/api/v1/organizations/{organizationId}/audit/export', { organizationId }, { format })
}

export function readSinks(
  organizationId: string | null,
  signal: AbortSignal,
): Promise<readonly Schemas['AuditSink'][]> {
  return readAll((after) => {
    const query = { limit: 200, ...(after !== undefined && { after }) }
    if (organizationId === null) return api('GET /api/v1/audit-sinks', { query }, { signal })
    const params = { organizationId }
    return api('GET /api/v1/organizations/{organizationId}/audit-sinks', { params, query }, { signal })
  })
}
