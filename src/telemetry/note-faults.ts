import type { Log } from './log.ts'

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

/**
 * Does one piece of work after the other: one that fails keeps none behind it from being done. Throws what the first one
 * threw.
 */
export async function inTurn(works: readonly (() => Promise<void>)[]): Promise<void> {
  const faults: unknown[] = []
  for (const work of works) await work().catch((error: unknown) => faults.push(error))
  if (faults.length > 0) throw faults[0]
}
