/** While a step is computed requests are prepared for so long, or for this part of it, and longer by the last one of them. */
const besideStepMsMin = 4
const shareOfStep = 0.25

type Job = () => Promise<void>

/**
 * Has requests prepared by the thread that also chooses tokens: beside each step only a few milliseconds of them, so that
 * nobody's answer waits for all that others ask, and of each key another one in turn.
 */
export class PreparingTurns {
  readonly #isBusy: () => boolean
  readonly #nowMs: () => number
  readonly #waiting = new Map<string, Job[]>()
  #allowedMs = besideStepMsMin
  #spentMs = 0

  /** `isBusy` tells whether steps are made, in each of which `proceed` is called. */
  constructor(isBusy: () => boolean, nowMs: () => number = () => performance.now()) {
    this.#isBusy = isBusy
    this.#nowMs = nowMs
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

  /** The next step is computed, which takes about so long, or none is made any more. */
  async proceed(stepMs: number): Promise<void> {
    this.#spentMs = 0
    this.#allowedMs = Math.max(besideStepMsMin, stepMs * shareOfStep)
    while (this.#waiting.size > 0 && this.#hasRoom()) await this.#time(this.#takeNext())
  }

  #hasRoom(): boolean {
    return !this.#isBusy() || this.#spentMs < this.#allowedMs
  }

  /** The key that has waited longest for its turn is the first of the map. */
  #takeNext(): Job {
    const [[key, [job, ...others]] = ['', []]] = this.#waiting
    this.#waiting.delete(key)
    if (others.length > 0) this.#waiting.set(key, others)
    return job ?? (() => Promise.resolve())
  }

  /** What a job does before it waits for anything, which is all but the end of it, is what counts. */
  #time(job: Job): Promise<void> {
    const fromMs = this.#nowMs()
    const done = job()
    this.#spentMs += this.#nowMs() - fromMs
    return done
  }
}
