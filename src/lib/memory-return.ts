import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Clock } from './clock.ts'

export type MemoryReturnOptions = {
  readonly clock: Clock
  /** Tells whether nobody would notice a pause of some 30 ms. */
  isIdle(): boolean
  /** Collects all garbage at once. */
  collect(): void
}

/** What large texts leave behind is only worth a collection when it is much. */
const bytesMin = 32 * 1_024 * 1_024
const waitMs = 5_000
/** Smaller ones are gone with the small collections, which are made all the time. */
const largeBytesMin = 256 * 1_024

/**
 * Gives back the memory of large texts.
 *
 * The JavaScript engine collects garbage when more memory is wanted, and in a service that has become quiet none is: what a
 * burst of large texts has left would stay for hours. So it is collected when they are over and nobody waits for
 * anything. Where there is no such moment there is traffic, and with it the ordinary collections.
 */
export class MemoryReturn {
  readonly #options: MemoryReturnOptions
  #bytes = 0
  #cancel: (() => void) | null = null

  constructor(options: MemoryReturnOptions) {
    this.#options = options
  }

  /** A text of so many bytes is no longer needed. */
  note(bytes: number): void {
    if (bytes < largeBytesMin) return
    this.#bytes += bytes
    if (this.#bytes >= bytesMin) this.#cancel ??= this.#schedule()
  }

  close(): void {
    this.#cancel?.()
  }

  #schedule(): () => void {
    return this.#options.clock.after(waitMs, () => {
      if (this.#options.isIdle()) {
        this.#cancel = null
        this.#bytes = 0
        this.#options.collect()
      } else this.#cancel = this.#schedule()
    })
  }
}

/**
 * Gives back what loading a program has left behind.
 *
 * The young generation grows while modules are loaded, because what they hold stays, and keeps its size afterwards. A
 * thread that has the query builder's modules needs 11 MiB instead of 20 once its young generation has shrunk.
 */
export function shrinkAfterLoading(): void {
  openCollector()({ type: 'major', flavor: 'last-resort' })
}

type Collect = (how?: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void

/**
 * Returns what collects all garbage; the engine offers it when it is asked for it by a flag alone.
 *
 * The flag stays: it is one for all threads, and another one may be about to ask for its collector.
 */
export function openCollector(): Collect {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as Collect
}
