import { requireDay } from '../accounts/moments.ts'
import { UsageError } from '../usage-error.ts'

/** The options that name a time from when and until when. */
export const periodOptions = { from: { type: 'string' }, to: { type: 'string' } } as const

export type PeriodValues = { readonly from?: string | undefined; readonly to?: string | undefined }

const dayOnly = /^\d{4}-\d{2}-\d{2}$/
const moment = /^\d{4}-\d{2}-\d{2}T\d{2}(:\d{2}(:\d{2}(\.\d{1,3})?)?)?(Z|[+-]\d{2}:\d{2})$/

/** `2026-11-01` is that day's first moment in UTC; a time of day needs its zone: `2026-11-01T08:00Z`. */
export function parseMoment(text: string, name: string): number {
  const withMinutes = text.replace(/(T\d{2})(Z|[+-])/, '$1:00$2')
  const atMs = dayOnly.test(text) || moment.test(text) ? Date.parse(withMinutes) : Number.NaN
  if (Number.isNaN(atMs))
    throw new UsageError(`${name} takes a day, 2026-11-01, or a time with its zone, 2026-11-01T08:00Z.`)
  requireDay(text, name)
  return atMs
}

/** `to` itself is left out. */
export function parsePeriod({ from, to }: PeriodValues): { fromMs?: number; toMs?: number } {
  const period = {
    ...(from !== undefined && { fromMs: parseMoment(from, '--from') }),
    ...(to !== undefined && { toMs: parseMoment(to, '--to') }),
  }
  const { fromMs, toMs } = period
  if (fromMs !== undefined && toMs !== undefined && fromMs >= toMs)
    throw new UsageError('--from has to be before --to.')
  return period
}
