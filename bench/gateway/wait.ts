import { percentile } from './reading.ts'

/** How long something takes that no gateway could do faster. */
export type Wait = { readonly p50Ms: number; readonly p99Ms: number }

export function toWait(times: readonly number[]): Wait {
  const sorted = times.toSorted((one, other) => one - other)
  return { p50Ms: percentile(sorted, 50), p99Ms: percentile(sorted, 99) }
}
