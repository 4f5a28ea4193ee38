import { z } from 'zod'
import type { AccountsParts } from '../../../accounts/parts.ts'
import { findRecording, findRecordingTarget } from '../../../accounts/recordings/recordings.ts'
import { countByHour } from '../../../billing/ledger/count-by-hour.ts'
import { fromCostColumns } from '../../../billing/ledger/cost-columns.ts'
import { findRequestTarget, readRequestRows, type LedgerRow } from '../../../billing/ledger/read-ledger.ts'
import { dayMs, hourMs } from '../../../billing/usage/usage-columns.ts'
import { bucketStarts, UnusableZone } from '../../../billing/usage/zone-buckets.ts'
import type { RequestId } from '../../../core/ids.ts'
import { toMicrosText } from '../../../core/money.ts'
import { isOfInstallation, may, notFound } from '../../../core/permission.ts'
import type { Principal } from '../../../core/principal.ts'
import type { Database } from '../../../db/database.ts'
import { parseJson } from '../../../lib/json/parse-json.ts'
import { InvalidFields } from '../problem.ts'
import { defineRoute, type Route } from '../route.ts'
import { costMicros, id, inOrganization, time, toTime, toTimeOrNull } from '../schemas.ts'
import { recordingState } from './recordings.ts'
import { entry, ledgerFilter, showEntry, toFilter } from './ledger.ts'

const requestId = id('req')

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

const routing = z
  .strictObject({
    candidates: z.int().describe('Replicas that could have had it at that moment.'),
    matchedTokens: z.int().describe('Tokens of its prompt that the chosen one was believed to hold.'),
    outstandingTokens: z.int().describe('Tokens of prompts that the chosen one had yet to compute.'),
    heldMs: z.number().describe('How long it waited in the pool.'),
  })
  .meta({ id: 'RoutingReason' })

const priceLine = z.strictObject({
  kind: z.enum(['inputUncached', 'inputCacheRead', 'inputCacheWrite', 'inputCacheWriteLong', 'output']),
  tokens: z.int(),
  rateMicros: z.int().describe('For a million tokens.'),
  costMicros,
})

const requestDetails = z
  .strictObject({
    charge: entry,
    reversal: entry.nullable(),
    cache: explanation.nullable(),
    apiKeyName: z.string().nullable(),
    projectName: z.string().nullable(),
    queueMs: z.number().nullable().describe('From the admission until the request had its slot.'),
    promptMs: z.number().nullable().describe('From then until the first token of the answer.'),
    answerMs: z.number().nullable().describe('From then to the end.'),
    lines: z
      .array(priceLine)
      .describe(
        'What the charge is made of: their costs and `roundingMicros` add up to it. Empty without a price, and where the service failed the request, which costs nothing.',
      ),
    roundingMicros: costMicros
      .nullable()
      .describe(
        'What the charge is more than its lines, or less, from when costs were rounded; null where it is neither.',
      ),
    savedMicros: costMicros
      .nullable()
      .describe('What the tokens that were read from the cache would have cost more; null where there are no lines.'),
    countSource: z
      .enum(['reported', 'estimated'])
      .nullable()
      .describe(
        'Whose word the counts are, for roles of the installation: what an engine elsewhere reported, or bounds where it did not say; null where they are this service’s own.',
      ),
    routing: routing.nullable().describe('Why that copy was chosen; for roles of the installation.'),
    recording: z
      .strictObject({ state: recordingState, endsAt: time })
      .nullable()
      .describe('Whether what was said is kept; null where it is not, and for whoever may not read it.'),
    replica: z.string().nullable().describe('Which copy of a remote engine answered; for roles of the installation.'),
  })
  .meta({ id: 'RequestDetails' })

function explain(line: LedgerRow): z.input<typeof explanation> | null {
  const { cache_source: source, cache_differs_at: atToken, cache_differs_in: part } = line
  if (source === null) return null
  return {
    source,
    promptTokens: line.input_uncached + line.input_cache_read + line.input_cache_write,
    reusedTokens: line.input_cache_read,
    firstDifference: atToken === null ? null : { atToken, in: part ?? '' },
  }
}

/** Null where there was nothing to choose, and for what another version has written in a way of its own. */
function readRouting(line: LedgerRow): z.output<typeof routing> | null {
  const { routing: text } = line
  return text === null ? null : (routing.safeParse(parseJson(text)).data ?? null)
}

async function readNames(db: Database, { organization_id, api_key_id, project_id }: LedgerRow) {
  const named = await db
    .selectFrom('projects')
    .leftJoin('api_keys', (join) =>
      join.on('api_keys.id', '=', api_key_id).onRef('api_keys.organization_id', '=', 'projects.organization_id'),
    )
    .select(['projects.name as projectName', 'api_keys.name as apiKeyName'])
    .where('projects.id', '=', project_id)
    .where('projects.organization_id', '=', organization_id)
    .executeTakeFirst()
  return { projectName: named?.projectName ?? null, apiKeyName: named?.apiKeyName ?? null }
}

/** The lines of a bill, each of which is exact: a rate for a million tokens is a number of picos for one. */
async function readPriceLines(db: Database, line: LedgerRow) {
  const none = { lines: [], roundingMicros: null, savedMicros: null }
  const charged = fromCostColumns(line)
  if (line.price_id === null || charged === null || line.outcome === 'failed') return none
  const price = await db.selectFrom('prices').selectAll().where('id', '=', line.price_id).executeTakeFirst()
  if (price === undefined) return none
  const short = line.input_cache_write - line.input_cache_write_long
  const rated = [
    ['inputUncached', line.input_uncached, price.input],
    ['inputCacheRead', line.input_cache_read, price.cache_read],
    ['inputCacheWrite', short, price.cache_write_short],
    ['inputCacheWriteLong', line.input_cache_write_long, price.cache_write_long],
    ['output', line.output, price.output],
  ] as const
  const lines = rated
    .filter(([, tokens]) => tokens > 0)
    .map(([kind, tokens, rateMicros]) => ({ kind, tokens, rateMicros, picos: BigInt(tokens) * BigInt(rateMicros) }))
  const rounding = charged - lines.reduce((sum, { picos }) => sum + picos, 0n)
  const saved = BigInt(line.input_cache_read) * BigInt(price.input - price.cache_read)
  return {
    lines: lines.map(({ picos, ...rest }) => ({ ...rest, costMicros: toMicrosText(picos) })),
    roundingMicros: rounding === 0n ? null : toMicrosText(rounding),
    savedMicros: toMicrosText(saved),
  }
}

async function readRecordingState(
  accounts: AccountsParts,
  principal: Principal,
  requestId: RequestId,
): Promise<z.input<typeof requestDetails>['recording']> {
  // Of most requests nothing is kept, and then nobody has to be asked for.
  const recording = await findRecording(accounts, requestId)
  const target = recording && (await findRecordingTarget(accounts.db, requestId))
  if (recording === null || target === null || !may(principal, 'recordings:read', target)) return null
  return { state: recording.state, endsAt: toTime(recording.endsAtMs) }
}

const daysDefault = 7
/** Every row of the time is looked at, since sums do not know these filters. */
const daysMax = 92
const outcomes = ['finished', 'aborted', 'failed'] as const

const counts = z.array(z.int())
const histogram = z
  .strictObject({
    zone: z.string(),
    startsAt: z.array(time).describe('The beginning of each bucket.'),
    finished: counts.describe('Like all that follow: a number for each bucket.'),
    aborted: counts,
    failed: counts,
    total: z.int(),
    countedFrom: time
      .nullable()
      .describe(
        'From when on requests are counted, where the time has too many to look through; null where all of it is.',
      ),
  })
  .meta({ id: 'RequestHistogram' })

const query = ledgerFilter.extend({
  bucket: z.enum(['hour', 'day']).default('hour'),
  zone: z.string().min(1).max(64).default('UTC').describe('An IANA time zone whose hours begin with those of UTC.'),
})

function readRange(asked: z.output<typeof query>, nowMs: number): { readonly fromMs: number; readonly toMs: number } {
  const floor = (ms: number) => ms - (ms % hourMs)
  const toMs = asked.to === undefined ? nowMs : Date.parse(asked.to)
  const fromMs = asked.from === undefined ? floor(toMs - daysDefault * dayMs) : Date.parse(asked.from)
  if (toMs <= fromMs) throw new InvalidFields([{ path: 'to', message: 'This must be later than from.' }])
  if (toMs - fromMs <= daysMax * dayMs) return { fromMs, toMs }
  throw new InvalidFields([{ path: 'from', message: `The time has ${daysMax} days at most.` }])
}

function readStarts(range: Parameters<typeof bucketStarts>[0]): readonly number[] {
  try {
    return bucketStarts(range)
  } catch (error) {
    if (error instanceof UnusableZone) throw new InvalidFields([{ path: 'zone', message: error.message }])
    throw error
  }
}

export const requestRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/requests/{requestId}',
    permission: 'requests:read',
    scope: ({ accounts }, params) => findRequestTarget(accounts.db, params['requestId'] as RequestId),
    summary: 'Read a request’s rows, and how much of its prompt was reused',
    params: z.strictObject({ requestId }),
    answer: requestDetails,
    async work({ parts, principal, params }) {
      const lines = await readRequestRows(parts.accounts.db, principal, params.requestId)
      const charge = lines.find(({ kind }) => kind === 'charge')
      const reversal = lines.find(({ kind }) => kind === 'reversal')
      if (charge === undefined) throw notFound()
      const { first_event_ms: queueMs, first_token_ms: firstMs, duration_ms: durationMs } = charge
      return {
        charge: showEntry(charge),
        reversal: reversal === undefined ? null : showEntry(reversal),
        cache: explain(charge),
        ...(await readNames(parts.accounts.db, charge)),
        queueMs,
        promptMs: firstMs === null ? null : firstMs - (queueMs ?? 0),
        answerMs: firstMs === null ? null : durationMs - firstMs,
        ...(await readPriceLines(parts.accounts.db, charge)),
        countSource: isOfInstallation(principal) ? charge.count_source : null,
        routing: isOfInstallation(principal) ? readRouting(charge) : null,
        recording: await readRecordingState(parts.accounts, principal, params.requestId),
        replica: isOfInstallation(principal) ? charge.replica : null,
      }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/organizations/{organizationId}/requests/histogram',
    permission: 'requests:read',
    scope: 'organization',
    summary: 'Count requests by the hour or day of a time zone and by how they ended, with the filters of their list',
    params: inOrganization,
    query,
    answer: histogram,
    async work({ parts, principal, params, query: asked }) {
      const { bucket, zone, ...filter } = asked
      const { fromMs, toMs } = readRange(asked, parts.accounts.clock.nowMs())
      const starts = readStarts({ bucket, zone, fromMs: fromMs - (fromMs % hourMs), toMs })
      const wanted = { ...toFilter(params.organizationId, filter), fromMs, toMs }
      const { hours, countedFromMs } = await countByHour(parts.accounts.db, principal, wanted)
      const sums = Object.fromEntries(outcomes.map((outcome) => [outcome, starts.map(() => 0)])) as Record<
        (typeof outcomes)[number],
        number[]
      >
      for (const { hourMs: at, outcome, requests } of hours) {
        const index = starts.findLastIndex((start) => start <= at)
        sums[outcome][index] = (sums[outcome][index] ?? 0) + requests
      }
      const total = hours.reduce((sum, { requests }) => sum + requests, 0)
      return { zone, startsAt: starts.map(toTime), ...sums, total, countedFrom: toTimeOrNull(countedFromMs) }
    },
  }),
]
