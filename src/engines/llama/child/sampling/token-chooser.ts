import { randomInt } from 'node:crypto'
import type { EngineRequest, TokenLogprob } from '../../../../core/generation.ts'
import { GrammarRun } from './grammar-run.ts'
import type { LogitIndex, Native, NativeSampler, SamplerConfig } from '../native.ts'
import type { Vocabulary } from '../../../text/vocabulary.ts'

export type ChosenToken = { readonly token: number; readonly logprob: TokenLogprob | null }

/** Chooses the tokens of one answer: sampling settings, biases, a minimum length, a grammar, log-probabilities. */
export class TokenChooser {
  readonly #native: Native
  readonly #vocabulary: Vocabulary
  readonly #sampler: NativeSampler
  readonly #meter: LogprobMeter | null
  readonly #settings: SamplerConfig
  readonly #biases: Map<number, number>
  readonly #endTokens: readonly number[]
  readonly #outputTokensMin: number
  readonly #penalties: TokenPenalties | null
  #chosen = 0
  #grammar: GrammarRun | null = null
  /** Tokens that were tried in this place, where the grammar has none of them or they are no text. */
  readonly #rejected = new Set<number>()
  #samplerKeepsGrammar = false
  #likeliest: NativeSampler | null = null
  #isEndForbidden = false
  #spentMs = 0
  /** When the token that is chosen last was asked for. */
  #fromMs = 0
  /** Whether a choice was begun and has not come to its end. */
  #isChoosing = false

  constructor(native: Native, vocabulary: Vocabulary, request: EngineRequest, bannedTexts: readonly string[]) {
    const { sampling } = request
    this.#native = native
    this.#vocabulary = vocabulary
    this.#sampler = native.takeSampler()
    this.#meter = request.logprobsTop === null ? null : createLogprobMeter(native, vocabulary, request.logprobsTop)
    this.#penalties = createPenalties(sampling)
    this.#settings = toSettings(request)
    // A bias on a token that does not exist has no effect, as it has on one that never comes up: to refuse it would tell
    // anyone the size of the vocabulary, from which the weights can be guessed.
    this.#biases = new Map(sampling.logitBias.filter(([token]) => token < native.vocabularySize))
    this.#endTokens = vocabulary.endTokens
    this.#outputTokensMin = request.outputTokensMin
    this.ban(bannedTexts)
  }

  /** From the next token on, a text is kept out of the answer where it is a token of its own; any other is only words. */
  ban(texts: readonly string[]): void {
    for (const text of texts) {
      const tokens = this.#vocabulary.tokenizeMarkup(text)
      if (tokens[0] !== undefined && tokens.length === 1) this.#biases.set(tokens[0], -Infinity)
    }
    this.#configure()
  }

  /** From the next token on, only what the grammar accepts is chosen. `begun` are tokens it has read already. */
  setGrammar(grammar: string, begun: readonly number[] = []): void {
    this.#grammar = new GrammarRun(this.#native, this.#vocabulary, grammar, begun)
    this.#configure()
  }

  /** While this holds, the answer goes on. */
  forbidEnd(isForbidden: boolean): void {
    this.#isEndForbidden = isForbidden
    this.#configure()
  }

  /** Milliseconds of the engine's time that its tokens took to choose, beside what the model computes. */
  get spentMs(): number {
    return this.#spentMs
  }

  async choose(index: LogitIndex): Promise<ChosenToken> {
    this.#fromMs = performance.now()
    this.#isChoosing = true
    const chosen = await this.#choose(index)
    this.#isChoosing = false
    this.#countTime()
    return chosen
  }

  async #choose(index: LogitIndex): Promise<ChosenToken> {
    const token = await this.#sample(index)
    const meter = this.#meter
    const logprob = meter === null ? null : await this.#timed(() => meter.measure(index, token))
    this.#chosen += 1
    this.#penalties?.add(token)
    const hasTried = this.#rejected.size > 0
    this.#rejected.clear()
    this.#samplerKeepsGrammar = false
    // Only now: a sampler that is configured forgets what it chose, and is told of it anew.
    if (hasTried || this.#penalties?.changesBiases === true || this.#chosen === this.#outputTokensMin) this.#configure()
    return { token, logprob }
  }

  /**
   * What a grammar has no place for is left out, and another token chosen: what comes of that is as likely as if the grammar
   * had been there before. To hold the whole vocabulary against it takes as long as several steps, so the sampler is given
   * it only where others find nothing.
   */
  async #sample(index: LogitIndex): Promise<number> {
    for (let tries = 1; ; tries++) {
      const token = await this.#timed(() => this.#native.context.sampleToken(index, this.#sampler))
      if (this.#grammar === null || this.#grammar.take(token, this.#samplerKeepsGrammar)) return token
      this.#rejected.add(token)
      const takesLikeliest = this.#takesLikeliest()
      const next = takesLikeliest && tries === 1 ? await this.#likeliestAllowed(index, this.#grammar) : null
      if (next !== null) {
        this.#rejected.clear()
        return next
      }
      this.#samplerKeepsGrammar = takesLikeliest || tries >= triesWithoutGrammar
      this.#configure()
    }
  }

  /** Whether the next token is the likeliest by the model itself, of those that may be chosen at all. */
  #takesLikeliest(): boolean {
    const isPlain = this.#penalties === null && [...this.#biases.values()].every((bias) => bias === -Infinity)
    return isPlain && this.#settings.temperature === 0
  }

  /** Null where none of the first few has a place in the grammar. */
  async #likeliestAllowed(index: LogitIndex, grammar: GrammarRun): Promise<number | null> {
    const sampler = (this.#likeliest ??= configuredSampler(this.#native, likeliestOnly))
    const wanted = { tokens: [], top: likeliestTokens }
    const { logits } = await this.#timed(() => this.#native.context.measureToken(index, sampler, wanted))
    const mayBe = (token: number) => !this.#rejected.has(token) && !this.#biases.has(token)
    // Of those that are as likely the sampler takes the first, and so does this.
    const inOrder = logits.toSorted(([left, logit], [right, other]) => other - logit || left - right)
    return inOrder.find(([token]) => mayBe(token) && grammar.take(token, false))?.[0] ?? null
  }

  /** Other answers' tokens are chosen while this one's waits for the pool's thread. */
  async #timed<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#countTime()
    const result = await work()
    this.#countTime()
    return result
  }

  #countTime(): void {
    this.#spentMs += this.#native.choosingTime.since(this.#fromMs)
  }

  /** Once its last choice has come to an end, or has failed: then a sampler may still be at work, and is not used again. */
  dispose(): void {
    const samplers = [this.#sampler, ...(this.#meter?.samplers ?? []), this.#likeliest]
    for (const sampler of samplers.filter((one) => one !== null)) {
      if (this.#isChoosing) sampler.dispose()
      else this.#native.giveSamplerBack(sampler)
    }
  }

  /** The sampler keeps the tokens it chose; they are handed over again only when something else changes. */
  #configure(): void {
    const biases = new Map(this.#biases)
    this.#penalties?.addTo(biases)
    const mustGoOn = this.#isEndForbidden || this.#chosen < this.#outputTokensMin
    // A grammar says itself where the end may be: where it must be, nothing else could be chosen.
    if (mustGoOn && this.#grammar === null) for (const token of this.#endTokens) biases.set(token, -Infinity)
    for (const token of this.#rejected) biases.set(token, -Infinity)
    this.#sampler.applyConfig({
      ...this.#settings,
      ...this.#penalties?.settings(),
      ...(biases.size > 0 && {
        tokenBiasKeys: Uint32Array.from(biases.keys()),
        tokenBiasValues: Float32Array.from(biases.values()),
      }),
      ...(this.#samplerKeepsGrammar && this.#grammar !== null && { grammarEvaluationState: this.#grammar.state }),
    })
  }
}

/** Each takes a twentieth of what the whole vocabulary does, and most places that a grammar rules need no more. */
const triesWithoutGrammar = 4

/** Where one likeliest token after the other is held against a grammar: so many take a tenth of what the vocabulary does. */
const likeliestTokens = 1_024

/** Unset values switch a sampler off: the library's own defaults would cut the distribution. */
function toSettings({ sampling, windowTokensMax, outputTokensMax }: EngineRequest): SamplerConfig {
  return {
    temperature: sampling.temperature ?? 1,
    topP: sampling.topP ?? 1,
    ...topKOf(sampling),
    minP: sampling.minP ?? 0,
    // Without a seed of its own each request would share the clock's.
    seed: sampling.seed ?? randomInt(0, 2 ** 32 - 1),
    repeatPenaltyMaxTokens: Math.min(windowTokensMax, outputTokensMax),
  }
}

/**
 * Nucleus sampling (top_p) looks at no more tokens than these.
 *
 * Without a bound the library sums up, and where many are about as likely sorts, the whole vocabulary for each
 * token: with 262,144 entries that took a fifth of a step. What is less likely than 4,096 others has next to nothing of the
 * probability, and a request that wants it nevertheless can leave top_p out.
 */
const nucleusTokensMax = 4_096

function topKOf({ topK, topP }: EngineRequest['sampling']): Pick<SamplerConfig, 'topK'> {
  if (topK !== null && topK > 0) return { topK }
  return topP !== null && topP < 1 ? { topK: nucleusTokensMax } : {}
}

type Penalties = Pick<EngineRequest['sampling'], 'presencePenalty' | 'frequencyPenalty' | 'repetitionPenalty'>

/** What tokens cost that the answer has already. */
interface TokenPenalties {
  /** Whether the next token needs other biases than the last one. */
  readonly changesBiases: boolean
  add(token: number): void
  addTo(biases: Map<number, number>): void
  settings(): Partial<SamplerConfig>
}

/** Presence and frequency are biases on the tokens that came: the library would look each token of the vocabulary up among them. */
function createPenalties({ presencePenalty, frequencyPenalty, repetitionPenalty }: Penalties): TokenPenalties | null {
  if (repetitionPenalty !== 1) return createNativePenalties({ presencePenalty, frequencyPenalty, repetitionPenalty })
  if (presencePenalty === 0 && frequencyPenalty === 0) return null
  const counts = new Map<number, number>()
  return {
    changesBiases: true,
    add: (token) => void counts.set(token, (counts.get(token) ?? 0) + 1),
    addTo(biases) {
      for (const [token, count] of counts)
        biases.set(token, (biases.get(token) ?? 0) - presencePenalty - count * frequencyPenalty)
    },
    settings: () => ({}),
  }
}

/** A repetition is multiplied, which no bias can say. The sampler itself keeps the tokens that it chose. */
function createNativePenalties({ presencePenalty, frequencyPenalty, repetitionPenalty }: Penalties): TokenPenalties {
  const history: number[] = []
  return {
    changesBiases: false,
    add: (token) => void history.push(token),
    addTo() {},
    settings: () => ({
      repeatPenalty: repetitionPenalty,
      repeatPenaltyPresencePenalty: presencePenalty,
      repeatPenaltyFrequencyPenalty: frequencyPenalty,
      repeatPenaltyTokens: Uint32Array.from(history),
    }),
  }
}

/** Gives the log-probability of a token as the model itself saw it, before any sampling setting. */
export interface LogprobMeter {
  readonly samplers: readonly NativeSampler[]
  measure(index: LogitIndex, token: number): Promise<TokenLogprob>
}

const untouched = { topP: 1, minP: 0, seed: 0 }
const likeliestOnly = { ...untouched, temperature: 1, topK: likeliestTokens }

/**
 * Two samplers look at the logits beside the one that chooses.
 *
 * One keeps the likeliest few, the other only sums up: so neither the whole
 * vocabulary is sorted nor any of it copied into JavaScript.
 */
export function createLogprobMeter(native: Native, vocabulary: Vocabulary, top: number): LogprobMeter {
  const likeliest = configuredSampler(native, { ...untouched, temperature: 1, topK: Math.max(1, top) })
  const sum = configuredSampler(native, { ...untouched, temperature: 0 })
  return {
    samplers: [likeliest, sum],
    async measure(index, token) {
      const [best, total] = await Promise.all([
        native.context.measureToken(index, likeliest, { tokens: [], top: Math.max(1, top) }),
        native.context.measureToken(index, sum, { tokens: [token], top: 0 }),
      ])
      const highest = best.logits[0]?.[1] ?? 0
      const normalizer = highest + Math.log(total.weight)
      const describe = (id: number, logit: number) => ({
        bytes: vocabulary.bytesOf(id),
        logprob: Math.min(0, logit - normalizer),
      })
      const chosen = total.logits.find(([id]) => id === token)?.[1] ?? -Infinity
      return { ...describe(token, chosen), top: best.logits.slice(0, top).map(([id, logit]) => describe(id, logit)) }
    },
  }
}

function configuredSampler(native: Native, config: Parameters<NativeSampler['applyConfig']>[0]): NativeSampler {
  const sampler = native.takeSampler()
  sampler.applyConfig(config)
  return sampler
}
