const units = ['bytes', 'kB', 'MB', 'GB', 'TB']

/** A size for people, as file managers and hubs write it: 4.68 GB. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1_000
    unit += 1
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toPrecision(3)} ${units[unit] ?? ''}`
}
