import { anyModel } from '../../app/model-codec.ts'
import { zoneField } from '../../app/zone-codec.ts'
import { addDays, dayIn, startOfDay } from '../../format/zone.ts'
import { day, oneOf, searchCodec, text, flag, type StateOf } from '../../lib/search-codec.ts'
import { dayMs } from '../../format/time.ts'

const fields = {
  range: oneOf(['today', '7d', '30d', 'month', 'last-month', '12m', 'custom'], '30d'),
  from: day,
  to: day,
  bucket: oneOf(['auto', 'hour', 'day', 'week', 'month'], 'auto'),
  zone: zoneField,
  by: oneOf(['model', 'project', 'key', 'member', 'user', 'tag', 'nothing'], 'model'),
  metric: oneOf(['cost', 'tokens', 'requests', 'cache'], 'cost'),
  model: anyModel,
  project: text(),
  key: text(),
  user: text(),
  tagKey: text(),
  tag: text(),
  previous: flag,
  all: flag,
}
export const usageSearch = searchCodec(fields)
export type UsageSearch = StateOf<typeof fields>

/** Of whose users, or of which tag, requests are summed, as the service takes it: by one of both at a time. */
export function attributionOf({ by, user, tagKey, tag }: UsageSearch) {
  const isByTag = by === 'tag' || (by !== 'user' && user === '')
  if (isByTag && tagKey === '') return {}
  if (isByTag) return { tagKey, ...(tag !== '' && { tag: [tag] }) }
  return user === '' ? {} : { user: [user] }
}

/** What lists of requests filter by as well; null where they have no filter for whom usage is attributed to. */
export function requestsFilterOf(search: UsageSearch) {
  const { zone, model, project, key } = search
  return Object.keys(attributionOf(search)).length > 0 ? null : { zone, model, project, key }
}

/** By what they are grouped; without a tag's key there is nothing to group by. */
export function groupingOf({ by, tagKey }: UsageSearch) {
  return by === 'nothing' || (by === 'tag' && tagKey === '') ? {} : { groupBy: by }
}

export type Bucket = Exclude<UsageSearch['bucket'], 'auto'>
export type Range = { readonly from: string; readonly to: string; readonly bucket: Bucket }
type Asked = Pick<UsageSearch, 'range' | 'from' | 'to' | 'bucket' | 'zone'>

/** More days than this by the hour are no chart. */
const hourDaysMax = 90
/** As fits: up to so many days each bar is an hour, and up to so many a day. */
const autoHourDays = 2
const autoDayDays = 92

/** The time that is meant, in whole days of the page's zone; `to` is left out itself. */
export function rangeOf(asked: Asked, nowMs = Date.now()): Range {
  const [first, last] = daysOf(asked, dayIn(asked.zone, nowMs))
  const days = (Date.parse(last) - Date.parse(first)) / dayMs + 1
  const from = new Date(startOfDay(first, asked.zone)).toISOString()
  const to = new Date(startOfDay(addDays(last, 1), asked.zone)).toISOString()
  return { from, to, bucket: bucketOf(asked.bucket, days) }
}

function bucketOf(bucket: Asked['bucket'], days: number): Bucket {
  if (bucket === 'auto') return days <= autoHourDays ? 'hour' : days <= autoDayDays ? 'day' : 'week'
  return bucket === 'hour' && days > hourDaysMax ? 'day' : bucket
}

/** The first and the last day. */
function daysOf({ range, from, to }: Asked, today: string): readonly [string, string] {
  switch (range) {
    case 'today':
      return [today, today]
    case '7d':
      return [addDays(today, -6), today]
    case '30d':
      return [addDays(today, -29), today]
    case 'month':
      return [monthStart(today, 0), today]
    case 'last-month':
      return [monthStart(today, -1), addDays(monthStart(today, 0), -1)]
    case '12m':
      return [monthStart(today, -11), today]
    case 'custom':
      return from === '' || to === '' || from > to ? [addDays(today, -29), today] : [from, to]
  }
}

function monthStart(today: string, months: number): string {
  const [year = 0, month = 1] = today.split('-').map(Number)
  return new Date(Date.UTC(year, month - 1 + months, 1)).toISOString().slice(0, 10)
}
