/** `refused` weights were never loaded; a load that `failed` said why, and one that crashed did not. */
export type EndKind = 'crashed' | 'load-failed' | 'refused'

export type Restart = {
  readonly pauseMs: number
  /** Nobody need wait for the engine. */
  readonly isDown: boolean
}

/** After more crashes than this within a minute the child counts as down until it loads again. */
const crashesPerMinuteMax = 5
const crashPauseMsMax = 60_000
/** Loading can fail because memory is short for a moment. What failed this often fails because of the weights. */
const failedLoadsMax = 3
/** Loading costs the machine much and what was wrong with a file mostly stays wrong. */
const loadPauseMsMax = 600_000
/** Looking at a file again costs next to nothing, and the operator who has mended it waits. */
const refusedPauseMs = 30_000

/** Decides when a child that has ended is started again. */
export class RestartPolicy {
  #crashTimes: number[] = []
  #failedLoads = 0
  #isLoaded = false

  ready(): void {
    this.#isLoaded = true
    this.#failedLoads = 0
  }

  ended(kind: EndKind, nowMs: number): Restart {
    const wasLoaded = this.#isLoaded
    this.#isLoaded = false
    if (kind === 'refused') return { pauseMs: refusedPauseMs, isDown: true }
    if (!wasLoaded) return this.#failed(kind)
    this.#crashTimes = [...this.#crashTimes.filter((time) => nowMs - time < 60_000), nowMs]
    const crashes = this.#crashTimes.length
    // The first crash is mended at once; a child that keeps crashing waits 1, 2, 4 … seconds.
    const pauseMs = crashes === 1 ? 0 : Math.min(crashPauseMsMax, 1_000 * 2 ** (crashes - 2))
    return { pauseMs, isDown: crashes > crashesPerMinuteMax }
  }

  #failed(kind: EndKind): Restart {
    this.#failedLoads += 1
    const pauseMs = Math.min(loadPauseMsMax, 1_000 * 2 ** (this.#failedLoads - 1))
    return { pauseMs, isDown: kind === 'load-failed' || this.#failedLoads >= failedLoadsMax }
  }
}
