import { FittedLine } from './fitted-line.ts'

/** Steps differ; the next one aims below the 250 ms within which an abort is to take effect and answers go on. */
const stepMsAimDefault = 200
/** Small enough for a first step on any weights that a processor can serve. */
const tokensFirst = 16
/** Of a step at least half the time goes into tokens, and not into what every step takes whatever its size. */
const timesBase = 2
/** A machine that is held up looks as if every step took long; where answers alone do not, no step is made longer than this. */
const stepMsMost = 500
const growthMax = 4
/** Every other step is this much smaller: only steps of different sizes tell what a token takes and what a step does. */
const smallerShare = 0.75
/** Where somebody else may come at any moment a step is short: an eighth of it, at most, is what every step takes. */
const shortTimesBase = 8
const shortStepMs = 15
/** Of fewer tokens a step tells too little of what a token takes. */
const shortTokensMin = 8
/** A mean that follows a change within some ten steps. */
const newest = 0.1

/**
 * Knows how long steps take, and chooses how many prompt tokens one may compute.
 *
 * By tokens alone a step of 512 took seconds on real weights on a processor. Where a step takes
 * long whatever its size, as with large weights or far into a long prompt, smaller steps would only
 * make prompts slower; there a step may take twice that.
 */
export class StepPace {
  readonly #tokensMost: number
  readonly #stepMsAim: number
  readonly #prompts = new FittedLine(newest)
  readonly #answers = new FittedLine(newest)
  #tokens: number
  #isSmaller = false
  #answerStepMs = 0

  /** Without an aim in milliseconds, which is Infinity, every step may compute as many tokens as any. */
  constructor(tokensMost: number, stepMsAim = stepMsAimDefault) {
    this.#tokensMost = tokensMost
    this.#stepMsAim = stepMsAim
    this.#tokens = stepMsAim === Infinity ? tokensMost : Math.min(tokensFirst, tokensMost)
  }

  /** Prompt tokens that the next step may compute. */
  get tokensMax(): number {
    return this.#vary(this.#tokens)
  }

  /** Prompt tokens of a step that somebody may have to wait for who is not there yet. */
  get tokensMaxShort(): number {
    if (this.#stepMsAim === Infinity) return this.tokensMax
    const { base, slope } = this.#prompts
    const fitting = Math.floor((Math.max(shortStepMs, base * shortTimesBase) - base) / slope)
    return Math.min(this.tokensMax, this.#vary(Math.max(shortTokensMin, fitting)))
  }

  /** What a step takes that computes a prompt, beside what its tokens take. */
  get promptBaseMs(): number {
    return this.#prompts.base
  }

  /** What so many prompt tokens take, beside what every step takes. */
  promptMs(tokens: number): number {
    return tokens * this.#prompts.slope
  }

  /** What a step takes in which so many answers get a token. */
  answersMs(count: number): number {
    return this.#answers.base + count * this.answerMs
  }

  /** What one answer more adds to a step; nothing until that is known, since machines that compute many at once take no longer. */
  get answerMs(): number {
    return this.#answers.isFitted ? this.#answers.slope : 0
  }

  /** Notes a step that computed so many tokens of prompts and of answers. */
  measure(promptTokens: number, answerTokens: number, ms: number): void {
    if (promptTokens > 0) return this.#measurePrompt(promptTokens, ms)
    this.#answerStepMs = this.#answerStepMs === 0 ? ms : this.#answerStepMs * (1 - newest) + ms * newest
    this.#answers.add(answerTokens, ms)
  }

  #measurePrompt(tokens: number, ms: number): void {
    // A short step says little about a long one, so a step grows only from one that was as long as it might be.
    const isFull = tokens >= this.tokensMax
    this.#prompts.add(tokens, ms)
    const { base, slope } = this.#prompts
    const longest = Math.max(stepMsMost, this.#answerStepMs * timesBase)
    const aimMs = Math.max(this.#stepMsAim, Math.min(base * timesBase, longest))
    const fitting = Math.floor((aimMs - base) / slope)
    if (fitting < this.#tokens || isFull)
      this.#tokens = Math.max(1, Math.min(fitting, this.#tokens * growthMax, this.#tokensMost))
    this.#isSmaller = !this.#isSmaller
  }

  #vary(tokens: number): number {
    return this.#isSmaller && this.#stepMsAim !== Infinity ? Math.ceil(tokens * smallerShare) : tokens
  }
}
