import type { Log } from '../telemetry/log.ts'

/** Does work that is done again and again. A fault is logged once, until the work succeeds again: a database may be away for hours. */
export function notingFaults(log: Log, words: string, work: () => Promise<void>): () => Promise<void> {
  let isFailing = false
  return async () => {
    try {
      await work()
      isFailing = false
    } catch (error) {
      if (!isFailing) log.error({ error }, words)
      isFailing = true
    }
  }
}
