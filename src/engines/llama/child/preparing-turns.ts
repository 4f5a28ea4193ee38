/** While a step is computed requests are prepared for so long, or for this part of it, and longer by the last one of them. */
const besideStepMsMin = 4
const shareOfStep = 0.25

/** Begins to prepare one request. */
type Begin = () => void

/**
 * Has requests prepared by the thread that also chooses tokens: beside each step only a few milliseconds of them, so that
 * nobody's answer waits for all that others ask, and of each key another one in turn. What a request does before it waits for
 * anything, which is all but the end of it, is what counts.
 */
export class PreparingTurns {
  readonly #isBusy: () => boolean
  readonly #nowMs: () => number
  readonly #waiting = new Map<string, Begin[]>()
  #allowedMs = besideStepMsMin
  #spentMs = 0

  /** `isBusy` tells whether steps are made, in each of which `proceed` is called. */
  constructor(isBusy: () => boolean, nowMs: () => number = () => performance.now()) {
    this.#isBusy = isBusy
    this.#nowMs = nowMs
  }

  /** Calls `begin` now, or beside one of the next steps. */
  run(key: string, begin: Begin): void {
    if (this.#waiting.size === 0 && this.#hasRoom()) return this.#time(begin)
    const own = this.#waiting.get(key) ?? []
    this.#waiting.set(key, own)
    own.push(begin)
  }

  /** The next step is computed, which takes about so long, or none is made any more. */
  proceed(stepMs: number): void {
    this.#spentMs = 0
    this.#allowedMs = Math.max(besideStepMsMin, stepMs * shareOfStep)
    // The key that has waited longest for its turn is the first of the map.
    for (const [key, own] of this.#waiting) {
      if (!this.#hasRoom()) return
      const begin = own.shift()
      this.#waiting.delete(key)
      if (own.length > 0) this.#waiting.set(key, own)
      if (begin !== undefined) this.#time(begin)
    }
  }

  #hasRoom(): boolean {
    return !this.#isBusy() || this.#spentMs < this.#allowedMs
  }

  #time(begin: Begin): void {
    const fromMs = this.#nowMs()
    begin()
    this.#spentMs += this.#nowMs() - fromMs
  }
}
