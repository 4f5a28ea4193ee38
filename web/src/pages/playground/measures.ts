import type { Run } from './run.ts'

/** Output tokens a second from the first one on; null where that cannot be said. */
export function ratePerSecond({ outputTokens, firstMs, totalMs }: Run): number | null {
  if (outputTokens === null || firstMs === null || totalMs === null || totalMs <= firstMs) return null
  return (outputTokens / (totalMs - firstMs)) * 1_000
}
