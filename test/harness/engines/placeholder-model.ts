import { setImmediate } from 'node:timers/promises'
import { modelSampling } from '../../../src/core/generation.ts'
import { TokenChooser } from '../../../src/engines/llama/child/sampling/token-chooser.ts'
import { createTextTools } from '../../../src/engines/text/text-tools.ts'
import { describeText, TableReader } from '../../../src/engines/text/model-text.ts'
import { engineRequest } from '../requests.ts'
import { openLane } from './open-lane.ts'

export type ModelRequest = {
  readonly tokens: readonly number[]
  readonly grammar: string | null
  readonly temperature: number
  readonly seed: number
  readonly outputTokensMax: number
  readonly biases: readonly (readonly [token: number, bias: number])[]
  readonly logprobsTop: number | null
  /** In the place of those that the weights say themselves end an answer. */
  readonly endTokens?: readonly number[]
}

export type ModelToken = {
  readonly id: number
  readonly logprob: number
  readonly top: readonly (readonly [number, number])[]
}

/** The placeholder weights, generating from tokens as an engine elsewhere would: one answer at a time. */
export type PlaceholderModel = {
  readonly reader: TableReader
  readonly windowTokens: number
  tokenize(text: string): number[]
  generate(request: ModelRequest, isLeft: () => boolean): AsyncGenerator<ModelToken>
}

const windowTokens = 2_048

export async function openPlaceholderModel(): Promise<PlaceholderModel> {
  const { native } = await openLane((loaded) => loaded, { slots: 1, windowTokensMax: windowTokens })
  const tools = createTextTools(native)
  const reader = new TableReader(describeText(tools).vocabulary)
  let last: Promise<unknown> = Promise.resolve()

  async function step(tokens: readonly number[], position: number) {
    const { context, batchTokens } = native
    for (let start = 0; start < tokens.length; start += batchTokens) {
      const part = Uint32Array.from(tokens.slice(start, start + batchTokens))
      context.initBatch(part.length)
      const [logit] = Array.from(context.addToBatch(0, position + start, part, Uint32Array.of(part.length - 1)))
      await context.decodeBatch()
      if (start + batchTokens >= tokens.length && logit !== undefined) return logit
    }
    throw new Error('Nothing was decoded.')
  }

  async function* generate(request: ModelRequest, isLeft: () => boolean): AsyncGenerator<ModelToken> {
    const before = last
    const done = Promise.withResolvers<void>()
    last = done.promise
    await before
    const { temperature, seed, biases, logprobsTop } = request
    const sampling = { ...modelSampling, temperature, seed, logitBias: biases }
    const chooser = new TokenChooser(native, tools.vocabulary, engineRequest({ sampling, logprobsTop }), [])
    try {
      native.memory.clear(0)
      if (request.grammar !== null) chooser.setGrammar(request.grammar)
      let pending: readonly number[] = request.tokens
      let position = 0
      for (let made = 0; made < request.outputTokensMax && !isLeft(); made++) {
        const logit = await step(pending, position)
        position += pending.length
        const { token, logprob } = await chooser.choose(logit)
        const top = (logprob?.top ?? []).map(
          ({ bytes, logprob: other }) => [reader.tokenOf(bytes) ?? token, other] as const,
        )
        yield { id: token, logprob: logprob?.logprob ?? 0, top }
        if (request.endTokens?.includes(token) ?? tools.vocabulary.endsGeneration(token)) return
        pending = [token]
        await setImmediate()
      }
    } finally {
      chooser.dispose()
      done.resolve()
    }
  }

  return { reader, windowTokens, tokenize: (text) => [...tools.vocabulary.tokenize(text)], generate }
}
