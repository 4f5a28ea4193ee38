import { availableParallelism } from 'node:os'

/**
 * A step of a model this small is over before a second thread has woken up, and on a
 * busy machine the threads then mostly wait for each other: measured 3 to 2,800 tokens/s.
 */
const singleThreadedBytesMax = 64 * 1024 * 1024

export type ThreadsWanted = {
  /** What the operator set; null leaves the choice to the engine. */
  readonly threads: number | null
  readonly weightsBytes: number
  /** Processors that this process may use. */
  readonly processors?: number
}

/**
 * Chooses how many threads compute.
 *
 * Threads of one step wait for each other by spinning. One more than there are processors, or
 * one that the rest of the service takes a processor from, therefore holds all of them up: four
 * on two processors gave 0.2 tokens/s with weights of 98 MB, one gave 110. So one processor is
 * left to the service, and even an operator's choice never exceeds the processors there are,
 * with the affinity and the quota of this process counted.
 */
export function chooseThreads({ threads, weightsBytes, processors = availableParallelism() }: ThreadsWanted): number {
  if (threads !== null) return Math.min(threads, processors)
  return weightsBytes <= singleThreadedBytesMax ? 1 : Math.max(1, processors - 1)
}
