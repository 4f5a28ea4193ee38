/** Within this time a step is over, so that an abort takes effect and other answers get their next token. */
const stepMsMax = 250
/** Steps differ; the next one aims below the limit. */
const stepMsAim = 200
/** Small enough for a first step on any weights that a processor can serve. */
const tokensFirst = 16
/** A step of slow weights takes its time even for one token; prompts may take so many times as long as that. */
const timesAnswerStep = 2
const growthMax = 4

/**
 * Chooses how many prompt tokens a step may compute, from what steps have taken.
 *
 * By tokens alone a step of 512 took seconds on real weights on a processor. Where answers alone
 * already take longer than the limit, one prompt token a step would make prompts as slow as
 * answers; there a step may take twice the time of such a step.
 */
export class PromptPace {
  readonly #tokensMost: number
  #tokens: number
  #answerStepMs = 0

  constructor(tokensMost: number) {
    this.#tokensMost = tokensMost
    this.#tokens = Math.min(tokensFirst, tokensMost)
  }

  /** Prompt tokens that the next step may compute. */
  get tokensMax(): number {
    return this.#tokens
  }

  /** Notes a step that computed so many prompt tokens; zero where it computed answers alone. */
  measure(promptTokens: number, ms: number): void {
    if (promptTokens === 0) {
      this.#answerStepMs = this.#answerStepMs === 0 ? ms : this.#answerStepMs * 0.9 + ms * 0.1
      return
    }
    const aimMs = Math.max(stepMsAim, Math.min(this.#answerStepMs, stepMsMax * 40) * timesAnswerStep)
    const fitting = Math.floor((promptTokens * aimMs) / Math.max(ms, 0.01))
    // A short step says little about a long one, so a step grows only from one that was as long as it might be.
    const isFull = promptTokens >= this.#tokens
    if (fitting < this.#tokens || isFull)
      this.#tokens = Math.max(1, Math.min(fitting, this.#tokens * growthMax, this.#tokensMost))
  }
}
