// Days of a time zone, by what the browser knows of zones.

import type { Zone } from './time.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** How far a zone's clocks are ahead of UTC at an instant. */
function offsetMs(zone: Zone, atMs: number): number {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
  const parts = new Map(format.formatToParts(new Date(atMs)).map(({ type, value }) => [type, Number(value)]))
  const [year = 0, month = 1, day = 1] = [parts.get('year'), parts.get('month'), parts.get('day')]
  const shown = Date.UTC(year, month - 1, day, parts.get('hour'), parts.get('minute'), parts.get('second'))
  return shown - Math.floor(atMs / 1_000) * 1_000
}

/** The day on a zone's calendars at an instant, as ISO writes it. */
export function dayIn(zone: Zone, atMs: number): string {
  return new Date(atMs + offsetMs(zone, atMs)).toISOString().slice(0, 10)
}

/** The instant at which a day begins in a zone. */
export function startOfDay(day: string, zone: Zone): number {
  const midnight = Date.parse(`${day}T00:00:00Z`)
  // The offset of the night itself, which that of the same hour in UTC need not be where clocks change.
  const near = midnight - offsetMs(zone, midnight)
  return midnight - offsetMs(zone, near)
}

/** The day that is so many days later; earlier ones are below zero. */
export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10)
}

/** Whether a zone is known and its hours begin with those of UTC, in winter and in summer: sums are kept by those. */
export function hasWholeHours(zone: Zone, nowMs = Date.now()): boolean {
  try {
    return [nowMs, nowMs - 182 * dayMs].every((atMs) => offsetMs(zone, atMs) % hourMs === 0)
  } catch {
    return false
  }
}
