const minuteMs = 60_000
const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

export type Zone = string

/** The zone that the reader's machine is set to. */
export function readerZone(): Zone {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** `23 Nov 05:19:07`, with the year where it is not this one. */
export function formatInstant(
  iso: string,
  { zone, now = Date.now() }: { readonly zone: Zone; readonly now?: number },
): string {
  const at = new Date(iso)
  const day = formatDay(iso, zone)
  const shown = day.endsWith(` ${new Date(now).getUTCFullYear()}`) ? day.slice(0, -5) : day
  return `${shown} ${timeOf(at, zone)}`
}

export function formatDay(iso: string, zone: Zone): string {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, day: 'numeric', month: 'short', year: 'numeric' })
  // Some versions write `Sept`.
  return format.format(new Date(iso)).replace('Sept', 'Sep')
}

function timeOf(at: Date, zone: Zone): string {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  }).format(at)
}

export function formatHour(iso: string, zone: Zone): string {
  return new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit' }).format(new Date(iso))
}

/** `3 min ago` within a day, the day before that. */
export function formatAgo(
  iso: string,
  { zone, now = Date.now() }: { readonly zone: Zone; readonly now?: number },
): string {
  const passedMs = now - Date.parse(iso)
  if (passedMs < minuteMs) return 'now'
  if (passedMs < hourMs) return `${Math.floor(passedMs / minuteMs)} min ago`
  if (passedMs < dayMs) return `${Math.floor(passedMs / hourMs)} h ago`
  return formatDay(iso, zone)
}

/** `in 5 days`, of what is still to come. */
export function formatUntil(iso: string, now = Date.now()): string {
  const leftMs = Date.parse(iso) - now
  if (leftMs <= 0) return 'over'
  if (leftMs < hourMs) return `in ${Math.max(1, Math.round(leftMs / minuteMs))} min`
  if (leftMs < 2 * dayMs) return `in ${Math.round(leftMs / hourMs)} h`
  return `in ${Math.round(leftMs / dayMs)} days`
}

/** Midnight in UTC of the day that many days before now. */
export function dayBefore(days: number, now = Date.now()): string {
  return new Date(Math.floor(now / dayMs) * dayMs - days * dayMs).toISOString()
}
