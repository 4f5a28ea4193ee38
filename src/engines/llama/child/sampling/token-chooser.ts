import { randomInt } from 'node:crypto'
import type { EngineRequest, TokenLogprob } from '../../../../core/generation.ts'
import { GrammarRun } from './grammar-run.ts'
import type { LogitIndex, Native, NativeSampler, SamplerConfig } from '../native.ts'
import { createLogprobMeter, type LogprobMeter } from './token-logprobs.ts'
import type { Vocabulary } from '../vocabulary.ts'

export type ChosenToken = { readonly token: number; readonly logprob: TokenLogprob | null }

/** Chooses the tokens of one answer: sampling settings, biases, a minimum length, a grammar, log-probabilities. */
export class TokenChooser {
  readonly #native: Native
  readonly #vocabulary: Vocabulary
  readonly #sampler: NativeSampler
  readonly #meter: LogprobMeter | null
  readonly #settings: SamplerConfig
  readonly #biases: ReadonlyMap<number, number>
  readonly #endTokens: readonly number[]
  readonly #outputTokensMin: number
  readonly #hasPenalty: boolean
  #history: number[] = []
  #chosen = 0
  #grammar: GrammarRun | null = null
  /** Tokens that were tried in this place and are no text there. */
  readonly #rejected = new Set<number>()
  #isEndForbidden = false

  /** A text is kept out of the answer where it is a token of its own; any other is only words. */
  constructor(native: Native, vocabulary: Vocabulary, request: EngineRequest, bannedTexts: readonly string[]) {
    const { sampling } = request
    this.#native = native
    this.#vocabulary = vocabulary
    this.#sampler = native.createSampler()
    this.#meter = request.logprobsTop === null ? null : createLogprobMeter(native, vocabulary, request.logprobsTop)
    this.#hasPenalty =
      sampling.presencePenalty !== 0 || sampling.frequencyPenalty !== 0 || sampling.repetitionPenalty !== 1
    this.#settings = toSettings(request)
    const banned = bannedTexts.map((text) => [...vocabulary.tokenizeMarkup(text)]).filter(({ length }) => length === 1)
    // A bias on a token that does not exist has no effect, as it has on one that never comes up: to refuse it would tell
    // anyone the size of the vocabulary, from which the weights can be guessed.
    const biases = sampling.logitBias.filter(([token]) => token < native.vocabularySize)
    this.#biases = new Map([...biases, ...banned.flat().map((token) => [token, -Infinity] as const)])
    this.#endTokens = vocabulary.endTokens
    this.#outputTokensMin = request.outputTokensMin
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

  async choose(index: LogitIndex): Promise<ChosenToken> {
    const token = await this.#sample(index)
    const logprob = this.#meter === null ? null : await this.#meter.measure(index, token)
    this.#chosen += 1
    if (this.#hasPenalty) this.#history.push(token)
    if (this.#chosen === this.#outputTokensMin) this.#configure()
    return { token, logprob }
  }

  /**
   * The native grammar takes some bytes for characters that are none. A token
   * that leads there is taken back and another one chosen.
   */
  async #sample(index: LogitIndex): Promise<number> {
    for (;;) {
      const token = await this.#native.context.sampleToken(index, this.#sampler)
      if (this.#grammar === null || this.#grammar.take(token)) {
        if (this.#rejected.size > 0) {
          this.#rejected.clear()
          this.#configure()
        }
        return token
      }
      this.#rejected.add(token)
      this.#configure()
    }
  }

  dispose(): void {
    this.#sampler.dispose()
    this.#meter?.dispose()
  }

  /** The sampler keeps the tokens it chose; they are handed over again only when something else changes. */
  #configure(): void {
    const biases = new Map(this.#biases)
    const mustGoOn = this.#isEndForbidden || this.#chosen < this.#outputTokensMin
    // A grammar says itself where the end may be: where it must be, nothing else could be chosen.
    if (mustGoOn && this.#grammar === null) for (const token of this.#endTokens) biases.set(token, -Infinity)
    for (const token of this.#rejected) biases.set(token, -Infinity)
    this.#sampler.applyConfig({
      ...this.#settings,
      ...(this.#hasPenalty && { repeatPenaltyTokens: Uint32Array.from(this.#history) }),
      ...(biases.size > 0 && {
        tokenBiasKeys: Uint32Array.from(biases.keys()),
        tokenBiasValues: Float32Array.from(biases.values()),
      }),
      ...(this.#grammar !== null && { grammarEvaluationState: this.#grammar.state }),
    })
  }
}

/** Unset values switch a sampler off: the library's own defaults would cut the distribution. */
function toSettings({ sampling, windowTokensMax, outputTokensMax }: EngineRequest): SamplerConfig {
  return {
    temperature: sampling.temperature ?? 1,
    topP: sampling.topP ?? 1,
    ...(sampling.topK !== null && sampling.topK > 0 && { topK: sampling.topK }),
    minP: sampling.minP ?? 0,
    // Without a seed of its own each request would share the clock's.
    seed: sampling.seed ?? randomInt(0, 2 ** 32 - 1),
    repeatPenalty: sampling.repetitionPenalty,
    repeatPenaltyMaxTokens: Math.min(windowTokensMax, outputTokensMax),
    repeatPenaltyPresencePenalty: sampling.presencePenalty,
    repeatPenaltyFrequencyPenalty: sampling.frequencyPenalty,
  }
}
