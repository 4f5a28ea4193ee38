import { z } from 'zod'
import { fromCostColumns } from '../../../billing/ledger/cost-columns.ts'
import type { LedgerFilter } from '../../../billing/ledger/ledger-filter.ts'
import type { LedgerCursor } from '../../../billing/ledger/ledger-scan.ts'
import { listLedger, type LedgerPage } from '../../../billing/ledger/list-ledger.ts'
import type { LedgerRow } from '../../../billing/ledger/read-ledger.ts'
import { fromTokenColumns } from '../../../billing/ledger/token-columns.ts'
import type { OrganizationId } from '../../../core/ids.ts'
import { toMicrosText } from '../../../core/money.ts'
import type { Principal } from '../../../core/principal.ts'
import type { Database } from '../../../db/database.ts'
import { sealCursor, unsealCursor } from '../cursor.ts'
import { exportFormat, exportName, writeExport } from '../export.ts'
import { defineRoute, type Route } from '../route.ts'
import {
  apiKeyId,
  costMicros,
  given,
  givenTime,
  inOrganization,
  memberId,
  model,
  organizationId,
  pageOf,
  pageQuery,
  projectId,
  time,
  toTime,
  toTimeOrNull,
} from '../schemas.ts'

const outcome = z.enum(['finished', 'aborted', 'failed'])

export const entry = z
  .strictObject({
    requestId: z.string(),
    kind: z.enum(['charge', 'reversal']).describe('A reversal voids its charge; its counts are negative.'),
    at: time,
    admittedAt: time.nullable(),
    organizationId,
    projectId,
    apiKeyId,
    model: z.string(),
    protocol: z.string().nullable(),
    isStream: z.boolean().nullable(),
    outcome,
    reason: z.string().nullable(),
    inputUncached: z.int(),
    inputCacheRead: z.int(),
    inputCacheWrite: z.int(),
    inputCacheWriteLong: z.int(),
    output: z.int(),
    outputThinking: z.int(),
    priceId: z.string().nullable(),
    costMicros: costMicros.nullable().describe('Null where the model had no price.'),
    firstEventMs: z.number().nullable(),
    firstTokenMs: z.number().nullable(),
    durationMs: z.number(),
    clientRequestId: z.string().nullable().describe('The id that the client gave the request.'),
    endUser: z
      .string()
      .nullable()
      .describe('Whom the client says it is for, by its name or a hash, as the settings of the organization have it.'),
    tags: z.record(z.string(), z.string()).describe('Of the metadata of the request, the keys that the settings name.'),
  })
  .meta({ id: 'LedgerEntry' })

/** A row of the ledger, as answers have it. */
export function showEntry(line: LedgerRow): z.input<typeof entry> {
  return {
    requestId: line.request_id,
    kind: line.kind,
    at: toTime(line.at),
    admittedAt: toTimeOrNull(line.admitted_at),
    organizationId: line.organization_id,
    projectId: line.project_id,
    apiKeyId: line.api_key_id,
    model: line.model,
    protocol: line.protocol,
    isStream: line.is_stream === null ? null : line.is_stream === 1,
    outcome: line.outcome,
    reason: line.reason,
    ...fromTokenColumns(line),
    priceId: line.price_id,
    costMicros: toCost(line),
    firstEventMs: line.first_event_ms,
    firstTokenMs: line.first_token_ms,
    durationMs: line.duration_ms,
    clientRequestId: line.client_request_id,
    endUser: line.end_user,
    tags: line.tags === null ? {} : (JSON.parse(line.tags) as Record<string, string>),
  }
}

/** As a decimal number of micro-units. */
function toCost(line: LedgerRow): string | null {
  const picos = fromCostColumns(line)
  return picos === null ? null : toMicrosText(picos)
}

/** What the ledger's rows are narrowed to. */
export const ledgerFilter = z.strictObject({
  from: givenTime.optional(),
  to: givenTime.optional().describe('Left out itself.'),
  projectId: projectId.optional(),
  apiKeyId: apiKeyId.optional(),
  model: model.optional(),
  outcome: outcome.optional(),
  reason: z.string().min(1).max(100).optional(),
  protocol: z.string().min(1).max(100).optional(),
  isStream: z.enum(['true', 'false']).optional(),
  q: z
    .string()
    .regex(/^req_\w{0,64}$/)
    .optional()
    .describe('A request’s id, or its beginning.'),
  clientRequestId: z.string().min(1).max(512).optional(),
  memberId: memberId.optional().describe('Requests with keys that this member owns.'),
  durationMsMin: z.int().min(0).optional(),
  costMicrosMin: z.int().min(0).optional(),
  cacheMiss: z.enum(['true']).optional().describe('Requests of whose prompt nothing was reused.'),
})
type Filter = z.output<typeof ledgerFilter>

export function toFilter(organization: OrganizationId, asked: Filter): LedgerFilter {
  const projectIds = asked.projectId === undefined ? undefined : [asked.projectId]
  const [fromMs, toMs] = [asked.from, asked.to].map((text) => (text === undefined ? undefined : Date.parse(text)))
  const { apiKeyId: key, model: which, outcome: end, reason, protocol, clientRequestId } = asked
  const { memberId: ownerId, durationMsMin, costMicrosMin, q: requestIdStart } = asked
  const isStream = asked.isStream === undefined ? undefined : asked.isStream === 'true'
  const isCacheMiss = asked.cacheMiss === undefined ? undefined : (true as const)
  const own = { reason, protocol, isStream, clientRequestId, requestIdStart }
  const others = { ownerId, durationMsMin, costMicrosMin, isCacheMiss }
  return {
    organizationId: organization,
    ...given({ projectIds, apiKeyId: key, model: which, outcome: end, fromMs, toMs, ...own, ...others }),
  }
}

/** The list that a cursor is for; in another organization's it is none. */
function listOf(organization: OrganizationId): string {
  return `ledger of ${organization}`
}

const linesPerRead = 1_000

async function* readAll(
  db: Database,
  principal: Principal,
  wanted: LedgerFilter,
): AsyncGenerator<z.input<typeof entry>[]> {
  let after: LedgerCursor | null = null
  do {
    const page: LedgerPage = await listLedger(db, principal, { ...wanted, after, limit: linesPerRead })
    if (page.rows.length > 0) yield page.rows.map(showEntry)
    after = page.next
  } while (after !== null)
}

const ledgerPage = pageOf(entry)
  .extend({
    searchedTo: time
      .nullable()
      .describe(
        'Up to when rows were looked through, where the page has fewer than `limit`, or none, since filters left too many of them to look through at once: `next` goes on from there. Null otherwise.',
      ),
  })
  .meta({ id: 'LedgerPage' })

const path = '/api/v1/organizations/{organizationId}/ledger'

export const ledgerRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path,
    permission: 'requests:read',
    scope: 'organization',
    isNoted: true,
    summary: 'List the ledger’s rows, newest first',
    params: inOrganization,
    query: pageQuery.extend(ledgerFilter.shape),
    answer: ledgerPage,
    async work({ parts, principal, params, query: { limit, after, ...asked } }) {
      const search = { ...toFilter(params.organizationId, asked), limit }
      const key = parts.management.storedAnswerKey
      const list = listOf(params.organizationId)
      const [at = 0, sequence = 0] = after === undefined ? [] : unsealCursor(key, list, after)
      const cursor = after === undefined ? null : { at, sequence }
      const page = await listLedger(parts.accounts.db, principal, { ...search, after: cursor })
      const next = page.next === null ? null : sealCursor(key, list, [page.next.at, page.next.sequence])
      return { data: page.rows.map(showEntry), next, searchedTo: toTimeOrNull(page.searchedToMs) }
    },
  }),
  defineRoute({
    method: 'GET',
    path: `${path}/export`,
    permission: 'requests:read',
    scope: 'organization',
    summary: 'Save the ledger’s rows as CSV or JSON lines, newest first',
    params: inOrganization,
    query: ledgerFilter.extend({ format: exportFormat.default('jsonl') }),
    answer: 'export',
    work({ parts, principal, params, query: { format, ...asked } }) {
      const pages = readAll(parts.accounts.db, principal, toFilter(params.organizationId, asked))
      const name = exportName(`ledger_${params.organizationId}`, asked)
      return Promise.resolve(writeExport(format, { name, columns: Object.keys(entry.shape), pages }))
    },
  }),
]
