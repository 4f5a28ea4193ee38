import { usableProcessors } from './usable-processors.ts'

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
  /** Processors that compute for themselves: two threads of one core share what multiplies. */
  readonly cores?: number
}

/** How many threads compute: to begin with, and at most. */
export type ThreadsChosen = { readonly first: number; readonly most: number }

/**
 * Chooses how many threads compute.
 *
 * Threads of one step wait for each other by spinning. One more than there are processors, or
 * one that the rest of the service takes a processor from, therefore holds all of them up: four
 * on two processors gave 0.2 tokens/s with weights of 98 MB, one gave 110. So one processor is
 * left to the service, until it shows that nobody uses it, and even an operator's choice never exceeds
 * the processors there are.
 */
export function chooseThreads({
  threads,
  weightsBytes,
  processors = usableProcessors(),
  cores = processors,
}: ThreadsWanted): ThreadsChosen {
  if (threads !== null) return { first: Math.min(threads, processors), most: Math.min(threads, processors) }
  if (weightsBytes <= singleThreadedBytesMax) return { first: 1, most: 1 }
  const most = Math.max(1, Math.min(processors, cores))
  return { first: Math.max(1, Math.min(most, processors - 1)), most }
}
