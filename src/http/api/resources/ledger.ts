import { z } from 'zod'
import {
  findRequestTarget,
  listLedger,
  readRequestLines,
  type LedgerFilter,
  type LedgerPlace,
} from '../../../billing/ledger/list-ledger.ts'
import type { LedgerLine } from '../../../billing/ledger/read-ledger.ts'
import { fromTokenColumns } from '../../../billing/ledger/token-columns.ts'
import type { OrganizationId, RequestId } from '../../../core/ids.ts'
import { notFound } from '../../../core/permission.ts'
import type { Principal } from '../../../core/principal.ts'
import type { Database } from '../../../db/database.ts'
import { decodeNumbers, encodeCursor } from '../cursor.ts'
import { exportFormat, writeExport } from '../export.ts'
import { defineRoute, type Route } from '../route.ts'
import {
  apiKeyId,
  given,
  givenTime,
  id,
  inOrganization,
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
const requestId = id('req')

const entry = z
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
    costMicros: z.int().nullable().describe('Null where the model had no price.'),
    firstEventMs: z.number().nullable(),
    firstTokenMs: z.number().nullable(),
    durationMs: z.number(),
    clientRequestId: z.string().nullable().describe('The id that the client gave the request.'),
  })
  .meta({ id: 'LedgerEntry' })

const explanation = z
  .strictObject({
    source: z.enum(['slot', 'copy', 'memory', 'disk', 'none']).describe('Where what was reused came from.'),
    promptTokens: z.int(),
    reusedTokens: z.int(),
    firstDifference: z
      .strictObject({ atToken: z.int(), in: z.string() })
      .nullable()
      .describe('Where the nearest prompt that was held begins to differ; null where none was held.'),
  })
  .meta({ id: 'CacheExplanation' })

const requestDetails = z
  .strictObject({ charge: entry, reversal: entry.nullable(), cache: explanation.nullable() })
  .meta({ id: 'RequestDetails' })

function show(line: LedgerLine): z.input<typeof entry> {
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
    costMicros: line.cost_micros,
    firstEventMs: line.first_event_ms,
    firstTokenMs: line.first_token_ms,
    durationMs: line.duration_ms,
    clientRequestId: line.client_request_id,
  }
}

function explain(line: LedgerLine): z.input<typeof explanation> | null {
  const { cache_source: source, cache_differs_at: atToken, cache_differs_in: part } = line
  if (source === null) return null
  return {
    source,
    promptTokens: line.input_uncached + line.input_cache_read + line.input_cache_write,
    reusedTokens: line.input_cache_read,
    firstDifference: atToken === null ? null : { atToken, in: part ?? '' },
  }
}

const filter = z.strictObject({
  from: givenTime.optional(),
  to: givenTime.optional().describe('Left out itself.'),
  projectId: projectId.optional(),
  apiKeyId: apiKeyId.optional(),
  model: model.optional(),
  outcome: outcome.optional(),
})
type Filter = z.output<typeof filter>

function toFilter(organization: OrganizationId, asked: Filter): LedgerFilter {
  const projectIds = asked.projectId === undefined ? undefined : [asked.projectId]
  const [fromMs, toMs] = [asked.from, asked.to].map((text) => (text === undefined ? undefined : Date.parse(text)))
  const { apiKeyId: key, model: which, outcome: end } = asked
  return {
    organizationId: organization,
    ...given({ projectIds, apiKeyId: key, model: which, outcome: end, fromMs, toMs }),
  }
}

function decodePlace(cursor: string): LedgerPlace {
  const [at = 0, sequence = 0] = decodeNumbers(cursor, 2)
  return { at, sequence }
}

const linesPerRead = 1_000

async function* readAll(
  db: Database,
  principal: Principal,
  wanted: LedgerFilter,
): AsyncGenerator<z.input<typeof entry>[]> {
  let after: LedgerPlace | null = null
  for (;;) {
    const lines: readonly LedgerLine[] = await listLedger(db, principal, { ...wanted, after, limit: linesPerRead })
    if (lines.length > 0) yield lines.map(show)
    after = lines.at(-1) ?? null
    if (lines.length < linesPerRead || after === null) return
  }
}

const path = '/api/v1/organizations/{organizationId}/ledger'

export const ledgerRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path,
    permission: 'requests:read',
    scope: 'organization',
    summary: 'List the ledger’s rows, newest first',
    params: inOrganization,
    query: pageQuery.extend(filter.shape),
    answer: pageOf(entry),
    async work({ parts, principal, params, query: { limit, after, ...asked } }) {
      const search = { ...toFilter(params.organizationId, asked), limit: limit + 1 }
      const place = after === undefined ? null : decodePlace(after)
      const lines = await listLedger(parts.accounts.db, principal, { ...search, after: place })
      const last = lines.length > limit ? lines[limit - 1] : undefined
      const next = last === undefined ? null : encodeCursor(last.at, last.sequence)
      return { data: lines.slice(0, limit).map(show), next }
    },
  }),
  defineRoute({
    method: 'GET',
    path: `${path}/export`,
    permission: 'requests:read',
    scope: 'organization',
    summary: 'Save the ledger’s rows as CSV or JSON lines, newest first',
    params: inOrganization,
    query: filter.extend({ format: exportFormat.default('jsonl') }),
    answer: 'export',
    work({ parts, principal, params, query: { format, ...asked } }) {
      const pages = readAll(parts.accounts.db, principal, toFilter(params.organizationId, asked))
      return Promise.resolve(writeExport(format, { name: 'ledger', columns: Object.keys(entry.shape), pages }))
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/requests/{requestId}',
    permission: 'requests:read',
    scope: ({ accounts }, params) => findRequestTarget(accounts.db, params['requestId'] as RequestId),
    summary: 'Read a request’s rows, and how much of its prompt was reused',
    params: z.strictObject({ requestId }),
    answer: requestDetails,
    async work({ parts, principal, params }) {
      const lines = await readRequestLines(parts.accounts.db, principal, params.requestId)
      const charge = lines.find(({ kind }) => kind === 'charge')
      const reversal = lines.find(({ kind }) => kind === 'reversal')
      if (charge === undefined) throw notFound()
      return { charge: show(charge), reversal: reversal === undefined ? null : show(reversal), cache: explain(charge) }
    },
  }),
]
