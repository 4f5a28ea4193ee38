import { closeSync, read, writeSync } from 'node:fs'
import { hasUnnamedFiles, openPipe } from '../../confinement/unnamed-files.ts'

/** The threads of Node's pool, in which the library computes steps and chooses tokens. */
export type PoolThreads = {
  /** Has so many take part in what is asked for from now on: at least one, and no more than there are. */
  open(threads: number): void
}

/** As many take part as did before. */
export const unheldThreads: PoolThreads = { open() {} }

/** The variable by which a process is told, before it begins, how many threads its pool has. */
export const poolSizeVariable = 'UV_THREADPOOL_SIZE'
/** What Node has where nobody says. */
const poolSizeDefault = 4

export function poolSize(): number {
  return Number(process.env[poolSizeVariable] ?? poolSizeDefault)
}

/**
 * Keeps all threads of the pool but one from taking part until they are asked for.
 *
 * The pool gives work to the thread that was idle for longest. What one answer needs, a step and then a choice, would be
 * handed on from thread to thread, each of which has other memory at hand: on a card one answer had 0.84 of
 * llama-server's tokens/s with eight threads and 1.03 with one. Several answers choose side by side, and twice as fast.
 *
 * A thread is held by reading from a pipe into which nobody writes. On systems that Node has no calls for all take part.
 */
export function holdPoolThreads(): PoolThreads {
  const threads = poolSize()
  return threads > 1 && hasUnnamedFiles() ? new HeldThreads(threads) : unheldThreads
}

class HeldThreads implements PoolThreads {
  readonly #threads: number
  readonly #pipe: { readonly reads: number; readonly writes: number }
  #open: number

  constructor(threads: number) {
    this.#threads = threads
    this.#open = threads
    this.#pipe = openPipe()
    // A process that ends waits for its pool. Reads from a pipe that cannot be written into any more are over.
    process.once('exit', () => closeSync(this.#pipe.writes))
    this.open(1)
  }

  open(threads: number): void {
    const wanted = Math.max(1, Math.min(threads, this.#threads))
    if (wanted > this.#open) writeSync(this.#pipe.writes, new Uint8Array(wanted - this.#open))
    for (let held = this.#open; held > wanted; held--) read(this.#pipe.reads, new Uint8Array(1), 0, 1, null, () => {})
    this.#open = wanted
  }
}
