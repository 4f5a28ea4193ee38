import { UsageError } from '../usage-error.ts'

const unitsMs = { h: 3_600_000, d: 86_400_000 } as const

/** A length of time as `12h` or `30d`. */
export function parseDuration(text: string, option: string): number {
  const [, count, unit] = /^(\d{1,5})([hd])$/.exec(text) ?? []
  if (count === undefined) throw new UsageError(`${option} takes hours or days, as 12h or 30d.`)
  return Number(count) * unitsMs[unit === 'h' ? 'h' : 'd']
}

/** When something ends: after a length of time, at a date (its beginning, UTC) or a moment, or never. */
export function parseEnd(text: string, nowMs: number): number | null {
  if (text === 'never') return null
  if (/^\d+[hd]$/.test(text)) return nowMs + parseDuration(text, '--expires')
  const moment = /^\d{4}-\d\d-\d\d(T[\d:.]+Z)?$/.test(text) ? Date.parse(text) : NaN
  if (Number.isNaN(moment)) {
    throw new UsageError('--expires takes 12h, 30d, a date as 2027-01-31, a moment as 2027-01-31T12:00:00Z, or never.')
  }
  requireDay(text, '--expires')
  return moment
}

/** Throws where a moment begins with a day that its month does not have: by itself it would be one of the next month. */
export function requireDay(text: string, option: string): void {
  const day = text.slice(0, 'YYYY-MM-DD'.length)
  if (!new Date(Date.parse(day)).toISOString().startsWith(day)) throw new UsageError(`${option}: there is no ${day}.`)
}

export function showDay(ms: number | null): string {
  return ms === null ? 'never' : new Date(ms).toISOString().slice(0, 10)
}
