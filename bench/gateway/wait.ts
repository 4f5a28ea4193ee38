import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from './reading.ts'

/** How long something takes that no gateway could do faster. */
export type Wait = { readonly p50Ms: number; readonly p99Ms: number }

const times = 500
/** So far apart that each waits for itself alone, and wakes up whatever sleeps meanwhile. */
const pauseMs = 4

/** Takes the time of something again and again. */
export async function measureWait(once: () => unknown): Promise<Wait> {
  const taken: number[] = []
  for (let time = 0; time < times; time++) {
    const begun = performance.now()
    await once()
    taken.push(performance.now() - begun)
    await sleep(pauseMs)
  }
  const sorted = taken.toSorted((one, other) => one - other)
  return { p50Ms: percentile(sorted, 50), p99Ms: percentile(sorted, 99) }
}
