import { PositionWeights, type Stretch } from './position-weights.ts'

/** Steps differ; the next one aims below the 250 ms within which an abort is to take effect and answers go on. */
const stepMsAimDefault = 200
/** Small enough for a first step on any weights that a processor can serve. */
const unitsFirst = 16
/** A step may take this many times its base, so that at least half of its time goes into tokens. */
const timesBase = 2
/** A machine that is held up looks as if every step took long; where answers alone do not, no step is made longer than this. */
const stepMsMost = 500
const growthMax = 4
/** Where nobody has to wait for it a step may take so many times as long. */
const aloneTimes = 2.5
/** Every other step is this much smaller: only steps of different sizes tell what a token takes and what a step does. */
const smallerShare = 0.75
/** Where somebody else may come at any moment a step is short: a quarter of it, at most, is what every step takes. */
const shortTimesBase = 4
const shortStepMs = 8
/** A step of less tells too little of what a token takes. */
const shortUnitsMin = 8
/** A mean that follows a change within some ten steps. */
const newest = 0.1
/** Whole numbers of tokens come back from units a little smaller or larger. */
const rounding = 1e-6

export type PaceOptions = {
  /** How long a step is to take; without an end, which is Infinity, every step may compute as many tokens as any. */
  readonly stepMsAim?: number
  /** From so many tokens of a prompt on the library compares them in tiles. */
  readonly tileTokens?: number
}

/**
 * Knows how long steps take, and chooses how much of prompts one may compute, in units of a token at the mean position.
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
  readonly #weights: PositionWeights
  readonly #tileTokens: number
  #units: number
  #isSmaller = false
  #answerStepMs = 0

  constructor(tokensMost: number, { stepMsAim = stepMsAimDefault, tileTokens = Infinity }: PaceOptions = {}) {
    this.#tokensMost = tokensMost
    this.#tileTokens = tileTokens
    this.#weights = new PositionWeights(tileTokens)
    this.#stepMsAim = stepMsAim
    this.#units = stepMsAim === Infinity ? tokensMost : Math.min(unitsFirst, tokensMost)
  }

  /** How much of prompts the next step may compute. */
  get unitsMax(): number {
    return this.#vary(this.#units)
  }

  /** The same for a step that nobody has to wait for whose answer goes on: where tokens are compared in tiles it is longer. */
  get unitsMaxAlone(): number {
    return this.#tileTokens === Infinity ? this.unitsMax : this.#units * aloneTimes
  }

  /** The same for a step that somebody may have to wait for who is not there yet. */
  get unitsMaxShort(): number {
    if (this.#stepMsAim === Infinity) return this.unitsMax
    const { base, slope } = this.#promptLine
    const fitting = Math.floor((Math.max(shortStepMs, base * shortTimesBase) - base) / slope)
    return Math.min(this.unitsMax, this.#vary(Math.max(shortUnitsMin, fitting)))
  }

  unitsOf(stretch: Stretch): number {
    return this.#weights.unitsOf(stretch)
  }

  /**
   * Whole tiles of so many tokens, and one also where there is time for half of it; fewer tokens are left as they are.
   * A rest of a prompt that needs no more than half a tile goes with the last.
   */
  inTiles(tokens: number, need: number): number {
    const tile = this.#tileTokens
    if (tokens < tile / 2) return tokens
    const whole = Math.max(tile, tokens - (tokens % tile))
    return need - whole <= tile / 2 ? need : whole
  }

  /** How many whole tokens behind a position so many units are. */
  tokensWithin(units: number, position: number): number {
    return Math.floor(this.#weights.tokensWithin(units, position) + rounding)
  }

  /** Milliseconds that a step with tokens of prompts takes beside them. */
  get promptBaseMs(): number {
    return this.#promptLine.base
  }

  /** Milliseconds that units of prompts add to the base of a step. */
  promptMs(units: number): number {
    return units * this.#promptLine.slope
  }

  /** Milliseconds of a step in which `count` answers get a token; those of any step until it is known what each adds. */
  answersMs(count: number): number {
    return this.#answers.isFitted ? this.#answers.base + count * this.answerMs : this.#answerStepMs
  }

  /** Milliseconds that one answer more adds to a step; zero until that is known, since machines that compute many at once take no longer. */
  get answerMs(): number {
    return this.#answers.isFitted ? this.#answers.slope : 0
  }

  /** Notes how long a step took for what it computed of prompts, and for its tokens of answers. */
  measure(prompts: readonly Stretch[], answerTokens: number, ms: number): void {
    if (prompts.length > 0) return this.#measurePrompts(prompts, ms)
    this.#answerStepMs = this.#answerStepMs === 0 ? ms : this.#answerStepMs * (1 - newest) + ms * newest
    this.#answers.add(answerTokens, ms)
  }

  #measurePrompts(prompts: readonly Stretch[], ms: number): void {
    const tokens = prompts.reduce((sum, stretch) => sum + stretch.tokens, 0)
    const units = prompts.reduce((sum, stretch) => sum + this.unitsOf(stretch), 0)
    // A short step says little about a long one, so a step grows only from one that was as long as it might be.
    const isFull = units >= this.unitsMax - rounding || tokens >= this.#tokensMost
    this.#prompts.add(units, ms)
    if (this.#stepMsAim !== Infinity) this.#weights.add(prompts, ms)
    const { base, slope } = this.#promptLine
    const longest = Math.max(stepMsMost, this.#answerStepMs * timesBase)
    const aimMs = Math.max(this.#stepMsAim, Math.min(base * timesBase, longest))
    const fitting = Math.floor((aimMs - base) / slope)
    const most = this.#weights.isUniform ? this.#tokensMost : Infinity
    if (fitting < this.#units || isFull) this.#units = Math.max(1, Math.min(fitting, this.#units * growthMax, most))
    this.#isSmaller = !this.#isSmaller
  }

  /**
   * What every step with tokens of prompts takes, and what each unit of them adds.
   *
   * A step's base is no longer than a whole step of one answer, which has one as well. Neighbours that hold up some
   * steps and others not would make it look several times that, and short steps as many times longer.
   */
  get #promptLine(): { readonly base: number; readonly slope: number } {
    const answer = this.answersMs(1)
    return this.#prompts.withBaseUpTo(answer === 0 ? Infinity : answer)
  }

  #vary(units: number): number {
    return this.#isSmaller && this.#stepMsAim !== Infinity ? Math.ceil(units * smallerShare) : units
  }
}

/** The least that anything is taken to cost, so that nothing is divided by zero. */
const slopeMin = 1e-4

/**
 * Fits a line to pairs of a size and a time, of which the newest count most.
 *
 * The times are those of work that takes a while whatever its size, and longer the larger it is.
 * As long as all sizes were about the same, time is taken to be in proportion to size; when they are so
 * again, what was found before still holds.
 */
export class FittedLine {
  readonly #newest: number
  #count = 0
  #size = 0
  #time = 0
  #sizeSquared = 0
  #product = 0
  #fitted: number | null = null

  constructor(newest: number) {
    this.#newest = newest
  }

  add(size: number, time: number): void {
    this.#count += 1
    const weight = Math.max(this.#newest, 1 / this.#count)
    this.#size += (size - this.#size) * weight
    this.#time += (time - this.#time) * weight
    this.#sizeSquared += (size * size - this.#sizeSquared) * weight
    this.#product += (size * time - this.#product) * weight
    const variance = this.#sizeSquared - this.#size ** 2
    if (this.#count < 4 || variance < (this.#size * 0.05) ** 2) return
    this.#fitted = (this.#product - this.#size * this.#time) / variance
  }

  /** Whether sizes differed enough to tell what each unit adds. */
  get isFitted(): boolean {
    return this.#fitted !== null
  }

  /** Time that each unit of size adds. */
  get slope(): number {
    const proportional = this.#time / Math.max(1, this.#size)
    return Math.max(slopeMin, Math.min(this.#fitted ?? proportional, proportional))
  }

  /** Time that the work takes whatever its size. */
  get base(): number {
    return Math.max(0, this.#time - this.slope * this.#size)
  }

  /** The line through the same mean whose base is no longer than `most`. */
  withBaseUpTo(most: number): { readonly base: number; readonly slope: number } {
    const { base, slope } = this
    return base <= most ? { base, slope } : { base: most, slope: (this.#time - most) / Math.max(1, this.#size) }
  }
}
