import { parseMoney } from '../../format/parse-typed.ts'
import { addDays, dayIn, startOfDay } from '../../format/zone.ts'
import { day, moment, oneOf, searchCodec, text, textThat, wholeNumber, type StateOf } from '../../lib/search-codec.ts'
import { pagePath } from '../paths.ts'
import { anyModel } from '../model-codec.ts'
import type { ModelId } from '../models.ts'
import type { LedgerFilter } from '../queries.ts'
import { zoneField } from '../zone-codec.ts'

/** An amount as prices are typed, and no more than the service counts to; the empty text is none. */
export const amount = textThat((given) => Number.isSafeInteger(microsOf(given)))

function microsOf(given: string): number {
  return Number(parseMoney(given) ?? Number.NaN)
}

const fields = {
  range: oneOf(['hour', 'today', '7d', '30d', 'all', 'custom'], '7d'),
  from: moment,
  to: moment,
  zone: zoneField,
  q: text(),
  model: anyModel,
  project: text(),
  key: text(),
  member: text(),
  outcome: oneOf(['any', 'finished', 'aborted', 'failed'], 'any'),
  format: oneOf(['any', 'chat-completions', 'messages'], 'any'),
  stream: oneOf(['any', 'yes', 'no'], 'any'),
  cache: oneOf(['any', 'miss'], 'any'),
  slower: wholeNumber,
  dearer: amount,
  live: oneOf(['off', 'on'], 'off'),
}
export const requestsSearch = searchCodec(fields)
export type RequestsSearch = StateOf<typeof fields>

const initial = requestsSearch.read('').state

/** The address of the requests that a figure is made of. */
export function requestsHref(organizationId: string, wanted: Partial<RequestsSearch>): string {
  return pagePath('requests', { organizationId }) + requestsSearch.write({ ...initial, ...wanted })
}

const hourMs = 60 * 60 * 1_000

/** From when to when; null is without an end. An hour or some days end now and begin with a whole hour, as sums do. */
export function spanOf(
  { range, from, to, zone }: Pick<RequestsSearch, 'range' | 'from' | 'to' | 'zone'>,
  nowMs = Date.now(),
): { readonly from: string | null; readonly to: string | null } {
  if (from !== '' || to !== '') return { from: beginOf(from, zone), to: endOf(to, zone) }
  const hour = Math.floor(nowMs / hourMs) * hourMs
  const today = dayIn(zone, nowMs)
  switch (range) {
    case 'hour':
      return { from: new Date(hour).toISOString(), to: null }
    case 'today':
      return { from: beginOf(today, zone), to: null }
    case '7d':
      return { from: beginOf(addDays(today, -6), zone), to: null }
    case '30d':
      return { from: beginOf(addDays(today, -29), zone), to: null }
    case 'all':
    case 'custom':
      return { from: null, to: null }
  }
}

function beginOf(given: string, zone: string): string | null {
  if (given === '') return null
  return new Date(isDay(given) ? startOfDay(given, zone) : Date.parse(given)).toISOString()
}

/** A day is meant whole, so the end is the beginning of the next. */
function endOf(given: string, zone: string): string | null {
  return beginOf(isDay(given) ? addDays(given, 1) : given, zone)
}

function isDay(given: string): boolean {
  return day.read(given) !== undefined && given !== ''
}

/** As the service takes them. */
export function toFilter(search: RequestsSearch, nowMs = Date.now()): LedgerFilter {
  const { model, project, key, member, outcome, q } = search
  const { from, to } = spanOf(search, nowMs)
  return {
    ...(from !== null && { from }),
    ...(to !== null && { to }),
    ...(model !== '' && { model: model as ModelId }),
    ...(project !== '' && { projectId: project }),
    ...(key !== '' && { apiKeyId: key }),
    ...(member !== '' && { memberId: member }),
    ...(outcome !== 'any' && { outcome }),
    ...(q !== '' && (/^req_\w{0,64}$/.test(q) ? { q } : { clientRequestId: q })),
    ...kindOf(search),
  }
}

/** What kind of request is meant, whosever it is. */
function kindOf({ format, stream, cache, slower, dearer }: RequestsSearch): LedgerFilter {
  return {
    ...(format !== 'any' && { protocol: format }),
    ...(stream !== 'any' && { isStream: stream === 'yes' ? 'true' : 'false' }),
    ...(cache === 'miss' && { cacheMiss: 'true' }),
    ...(slower !== '' && { durationMsMin: Number(slower) }),
    ...(dearer !== '' && { costMicrosMin: microsOf(dearer) }),
  }
}

/** Whether the sums of usage are sums of just these requests: they know models, projects and keys. */
export function isSummed({ member, outcome, format, stream, cache, slower, dearer, q }: RequestsSearch): boolean {
  const others = { member, outcome, format, stream, cache, slower, dearer, q }
  return Object.entries(others).every(([name, value]) => value === initial[name as keyof typeof others])
}
