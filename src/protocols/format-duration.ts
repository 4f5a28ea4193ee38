/** `38ms`, `1.2s`, `6m0s`, `1h2m3s`; rounded up, so that nobody comes too early. */
export function formatDuration(durationMs: number): string {
  const milliseconds = Math.max(0, Math.ceil(durationMs))
  if (milliseconds < 1_000) return `${milliseconds}ms`
  if (milliseconds < 60_000) return `${milliseconds / 1_000}s`
  const seconds = Math.ceil(milliseconds / 1_000)
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)]
  return `${hours > 0 ? `${hours}h` : ''}${minutes}m${seconds % 60}s`
}
