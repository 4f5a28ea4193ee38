import { FittedLine } from './fitted-line.ts'

/** Steps differ; the next one aims below the 250 ms within which an abort is to take effect and answers go on. */
const stepMsAim = 200
/** Small enough for a first step on any weights that a processor can serve. */
const tokensFirst = 16
/** Of a step at least half the time goes into tokens, and not into what every step takes whatever its size. */
const timesBase = 2
/** A machine that is held up looks as if every step took long; where answers alone do not, no step is made longer than this. */
const stepMsMost = 500
const growthMax = 4
/** Every other step is this much smaller: only steps of different sizes tell what a token takes and what a step does. */
const smallerShare = 0.75
/** What prompts may add to a step in which another key's answer gets a token, as a share of what that step takes alone. */
const shareBesideOthers = 0.5
/** So much longer than without prompts nobody notices that a token takes. */
const msBesideOthersMin = 3
/** A mean that follows a change within some ten steps. */
const newest = 0.1

/**
 * Chooses how many prompt tokens a step may compute, from what steps have taken.
 *
 * By tokens alone a step of 512 took seconds on real weights on a processor. Where a step takes
 * long whatever its size, as with large weights or far into a long prompt, smaller steps would only
 * make prompts slower; there a step may take twice that.
 */
export class PromptPace {
  readonly #tokensMost: number
  readonly #line = new FittedLine(newest)
  #tokens: number
  #isSmaller = false
  #answerStepMs = 0

  constructor(tokensMost: number) {
    this.#tokensMost = tokensMost
    this.#tokens = Math.min(tokensFirst, tokensMost)
  }

  /** Prompt tokens that the next step may compute. */
  get tokensMax(): number {
    return this.#isSmaller ? Math.ceil(this.#tokens * smallerShare) : this.#tokens
  }

  /** Prompt tokens beside an answer of somebody else, which then takes at most half as long again. */
  get tokensBesideOthers(): number {
    if (this.#answerStepMs === 0) return this.tokensMax
    const addedMs = Math.max(this.#answerStepMs * shareBesideOthers, msBesideOthersMin)
    return Math.max(1, Math.min(Math.floor(addedMs / this.#line.slope), this.tokensMax))
  }

  /** What so many prompt tokens take, beside what every step takes. */
  msOf(promptTokens: number): number {
    return promptTokens * this.#line.slope
  }

  /** Notes a step that computed so many prompt tokens; zero where it computed answers alone. */
  measure(promptTokens: number, ms: number): void {
    if (promptTokens === 0) {
      this.#answerStepMs = this.#answerStepMs === 0 ? ms : this.#answerStepMs * (1 - newest) + ms * newest
      return
    }
    // A short step says little about a long one, so a step grows only from one that was as long as it might be.
    const isFull = promptTokens >= this.tokensMax
    this.#line.add(promptTokens, ms)
    const { base, slope } = this.#line
    const longest = Math.max(stepMsMost, this.#answerStepMs * timesBase)
    const aimMs = Math.max(stepMsAim, Math.min(base * timesBase, longest))
    const fitting = Math.floor((aimMs - base) / slope)
    if (fitting < this.#tokens || isFull)
      this.#tokens = Math.max(1, Math.min(fitting, this.#tokens * growthMax, this.#tokensMost))
    this.#isSmaller = !this.#isSmaller
  }
}
