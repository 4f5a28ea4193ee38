const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const toTenth = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 })
const compact = new Intl.NumberFormat('en-US', {
  notation: 'compact',
  minimumFractionDigits: 1,
  maximumFractionDigits: 2,
})
/** Figures keep their unit beside them when a line breaks. */
const narrow = '\u202f'

export function formatCount(count: number): string {
  return whole.format(count)
}

/** `1 token` or `1,200 tokens`, for words that take an s. */
export function formatCounted(count: number, word: string): string {
  return `${formatCount(count)} ${word}${count === 1 ? '' : 's'}`
}

/** From a million on with two decimals and a letter. */
export function formatShortCount(count: number): string {
  return Math.abs(count) < 1_000_000 ? whole.format(count) : compact.format(count).replace(/([A-Z])$/, `${narrow}$1`)
}

export function formatShare(share: number): string {
  return `${toTenth.format(share * 100)}${narrow}%`
}

export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(2)} s`
  const seconds = Math.round(ms / 1_000)
  const minutes = Math.floor(seconds / 60)
  return minutes < 60 ? `${minutes} m ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} m`
}

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** Decimal, as makers of disks and of weights count. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1_000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), byteUnits.length - 1)
  const value = bytes / 1_000 ** power
  return `${power === 0 ? whole.format(value) : value.toFixed(1)}${narrow}${byteUnits[power] ?? 'B'}`
}

/** How far one figure is from an earlier one, as `+8.1 %`; null where there was nothing before. */
export function formatChange(now: number, before: number): string | null {
  if (before === 0) return null
  const change = (now - before) / before
  return `${change < 0 ? '−' : '+'}${formatShare(Math.abs(change))}`
}
