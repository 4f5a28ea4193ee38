/** While a step is computed requests are prepared for so long, and longer by the last one of them. */
const msBesideStep = 4

type Job = () => Promise<void>

/**
 * Has requests prepared by the thread that also chooses tokens: beside each step only a few milliseconds of them, so that
 * nobody's answer waits for all that others ask, and of each key another one in turn.
 */
export class PreparingTurns {
  readonly #isBusy: () => boolean
  readonly #waiting = new Map<string, Job[]>()
  #spentMs = 0

  /** `isBusy` tells whether steps are made, in each of which `proceed` is called. */
  constructor(isBusy: () => boolean) {
    this.#isBusy = isBusy
  }

  /** Runs a job now, or beside one of the next steps. Jobs do not reject. */
  async run(key: string, job: Job): Promise<void> {
    if (this.#waiting.size === 0 && this.#hasRoom()) return this.#time(job)
    const { promise, resolve } = Promise.withResolvers<void>()
    const own = this.#waiting.get(key) ?? []
    this.#waiting.set(key, own)
    own.push(() => job().finally(resolve))
    return promise
  }

  /** The next step is computed, or none is made any more. */
  async proceed(): Promise<void> {
    this.#spentMs = 0
    while (this.#waiting.size > 0 && this.#hasRoom()) await this.#time(this.#takeNext())
  }

  #hasRoom(): boolean {
    return !this.#isBusy() || this.#spentMs < msBesideStep
  }

  /** The key that has waited longest for its turn is the first of the map. */
  #takeNext(): Job {
    const [[key, [job, ...others]] = ['', []]] = this.#waiting
    this.#waiting.delete(key)
    if (others.length > 0) this.#waiting.set(key, others)
    return job ?? (() => Promise.resolve())
  }

  async #time(job: Job): Promise<void> {
    let fromMs = performance.now()
    const count = () => {
      const nowMs = performance.now()
      this.#spentMs += nowMs - fromMs
      fromMs = nowMs
    }
    const done = job()
    // The next one may be asked for before this one has told that it is over.
    count()
    await done
    count()
  }
}
