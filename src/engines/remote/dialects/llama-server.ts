// llama.cpp's own server, by `/completion`.
//
// It streams one token a record and none while a character is not whole: of a character in several tokens it names the
// last one alone, with the text of all. Those before it are found again in the vocabulary by their bytes, and the count at
// the end says whether that was all. Where log-probabilities are wanted the answer is read as a whole, which has all tokens.

import { z } from 'zod'
import type { TableReader } from '../../text/model-text.ts'
import {
  CountCheck,
  listTokens,
  malformed,
  ReplicaFault,
  type Ask,
  type Dialect,
  type HttpRequest,
  type RecordReader,
  type ReplicaFacts,
  type ReplicaRecord,
  type TokenIdLogprob,
  type TokenRequest,
  type TokenStep,
} from '../dialect.ts'
import { faultOfRecord, readTokens } from './server-answers.ts'
import { alignLogprobs, askLogprob, probabilitySchema, type ToldProbability } from './untold-logprobs.ts'

/** A character has four bytes at the most, of which the last is missing where it is cut off. */
const cutOffTokensMax = 3

const count = z.int().nonnegative()

const recordSchema = z.object({
  content: z.string(),
  tokens: z.array(z.int()),
  stop: z.boolean(),
  tokens_predicted: count.optional(),
  tokens_evaluated: count.optional(),
  prompt_progress: z.object({ total: count, cache: count }).optional(),
  stop_type: z.string().optional(),
  timings: z.object({ cache_n: z.int() }).optional(),
})
type ServerRecord = z.output<typeof recordSchema>

const propsSchema = z.object({
  total_slots: z.int().min(1),
  default_generation_settings: z.object({ n_ctx: z.int().min(1) }),
  build_info: z.string().optional(),
  /** Stands for a picture in a prompt, and is drawn anew by each run so that no client can write it. */
  media_marker: z.string().optional(),
})
const readProps = { method: 'GET', path: '/props' } as const

export const llamaServer: Dialect = {
  paths: ['/completion', '/tokenize', '/props', '/health'],
  health: { method: 'GET', path: '/health' },
  identity: { request: readProps, read: (answer) => propsSchema.safeParse(answer).data?.media_marker ?? null },
  cachedTokens: 'start',
  isolates: false,
  isWhole: ({ logprobsTop }) => logprobsTop !== null,
  toRequest,
  createReader: (request, vocabulary) => new Reader(request, vocabulary),
  async probe(ask) {
    const props = propsSchema.safeParse(await ask(readProps))
    if (!props.success) throw malformed('Its /props is not that of a llama-server.')
    const { total_slots: slots, default_generation_settings: settings, build_info: version, media_marker } = props.data
    return {
      kind: 'llama-server',
      modelName: null,
      version: version ?? null,
      windowTokens: settings.n_ctx,
      slots,
      heldTokensMax: slots * settings.n_ctx,
      route: '/completion',
      missing: [],
      ...(media_marker !== undefined && { identity: media_marker }),
    } satisfies ReplicaFacts
  },
  tokenize: (text) => ({
    request: { method: 'POST', path: '/tokenize', body: { content: text, add_special: false, parse_special: false } },
    read: readTokens,
  }),
}

/** Every sampling field is sent: what a replica was started with must not show in answers. */
function toRequest(request: TokenRequest): HttpRequest {
  const { sampling, slot, logprobsTop, grammar } = request
  const banned = request.bannedTokens.map((token) => [token, false] as const)
  const body = {
    prompt: listTokens(request.tokens),
    n_predict: request.outputTokensMax,
    stream: logprobsTop === null,
    return_tokens: true,
    return_progress: true,
    ignore_eos: false,
    stop: [],
    samplers: ['penalties', 'top_k', 'top_p', 'min_p', 'temperature'],
    temperature: sampling.temperature ?? 1,
    top_p: sampling.topP ?? 1,
    top_k: sampling.topK ?? 0,
    min_p: sampling.minP ?? 0,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    repeat_penalty: sampling.repetitionPenalty,
    // As far back as the answer may be long: the prompt is not to count, and cannot be left out altogether.
    repeat_last_n: request.outputTokensMax,
    seed: sampling.seed,
    logit_bias: [...sampling.logitBias, ...banned],
    n_probs: logprobsTop === null ? 0 : Math.max(1, logprobsTop),
    cache_prompt: slot === null || slot.mayReuse,
    ...(slot !== null && { id_slot: slot.id }),
    ...(grammar !== null && { grammar }),
  }
  return { method: 'POST', path: '/completion', body, elementsOf: 'completion_probabilities' }
}

class Reader implements RecordReader {
  readonly #request: TokenRequest
  readonly #vocabulary: TableReader
  readonly #counts: CountCheck
  #hasEnded = false
  /** What was told of the tokens' probabilities. */
  readonly #told: ToldProbability[] = []
  /** Tokens that were made at the least: what was guessed of a character stands for one or more. */
  #madeLeast = 0
  /** Tokens that were made at the most: each that was guessed of a character has a byte of it. */
  #madeMost = 0

  constructor(request: TokenRequest, vocabulary: TableReader) {
    this.#request = request
    this.#vocabulary = vocabulary
    this.#counts = new CountCheck(request)
  }

  read(record: ReplicaRecord): TokenStep {
    // What comes behind the end is nobody's.
    if (this.#hasEnded || record.kind === 'done') return { ids: [] }
    const { value } = record
    if (this.#request.logprobsTop !== null && this.#isProbability(value)) return { ids: [] }
    const parsed = recordSchema.safeParse(value)
    if (!parsed.success) throw faultOfRecord(value)
    const { data } = parsed
    this.#counts.prompt(data.tokens_evaluated, data.prompt_progress?.cache)
    if (data.prompt_progress !== undefined) return { ids: [], cachedTokens: data.prompt_progress.cache }
    return data.stop ? this.#last(data) : this.#next(data)
  }

  end(): void {
    if (!this.#hasEnded) throw malformed('Its stream ended before its answer did.')
  }

  /** From the last token to the first: what is held when one is asked for then begins with what is asked for next. */
  readonly complete = async (step: TokenStep, ask: Ask): Promise<TokenStep> => {
    const { slot, tokens } = this.#request
    const logprobs = [...(step.logprobs ?? [])]
    for (let at = logprobs.length - 1; at >= 0; at--) {
      if (logprobs[at] !== null) continue
      const prompt = [...listTokens(tokens), ...step.ids.slice(0, at)]
      const wanted = { id: step.ids[at] ?? 0, top: this.#request.logprobsTop ?? 0 }
      logprobs[at] = await askLogprob({ ...wanted, prompt, slot }, ask)
    }
    return { ...step, logprobs }
  }

  #isProbability(value: unknown): boolean {
    const told = probabilitySchema.safeParse(value)
    if (told.success) this.#told.push(told.data)
    return told.success
  }

  #next(data: ServerRecord): TokenStep {
    return { ids: this.#take(this.#lost(data), data) }
  }

  /** Counts the tokens of a record, with those that were left out before them. */
  #take(lost: readonly number[], { tokens, tokens_predicted: predicted }: ServerRecord): readonly number[] {
    const ids = [...lost, ...tokens]
    this.#counts.take(ids, this.#vocabulary)
    this.#madeLeast += tokens.length + Math.min(1, lost.length)
    this.#madeMost += lost.reduce((most, token) => most + this.#vocabulary.bytesOf(token).length, tokens.length)
    if (predicted !== undefined && predicted < this.#madeLeast)
      throw new ReplicaFault('lied', `It counted ${predicted} tokens where ${this.#madeLeast} had come.`)
    return ids
  }

  /** The tokens before the last one of a character, whose text came with it. */
  #lost({ content, tokens, tokens_predicted: predicted = Infinity }: ServerRecord): readonly number[] {
    const [last] = tokens
    // Bytes that are no text come as U+FFFD, which is longer than they are and may end with the same byte as the last token.
    const most = predicted - this.#counts.received - tokens.length
    if (content === '' || last === undefined || most <= 0) return []
    const whole = Buffer.from(content)
    const own = this.#vocabulary.bytesOf(last)
    if (whole.length <= own.length || !whole.subarray(whole.length - own.length).equals(own)) return []
    return this.#find(whole.subarray(0, whole.length - own.length)).slice(0, most)
  }

  /** The fewest tokens that have these bytes: those that were made are as many or more. */
  #find(bytes: Uint8Array): readonly number[] {
    const lasts: ({ readonly token: number; readonly start: number; readonly tokens: number } | undefined)[] = []
    for (let end = 1; end <= bytes.length; end++) {
      for (let start = Math.max(0, end - this.#vocabulary.tokenBytesMax); start < end; start++) {
        const tokens = 1 + (start === 0 ? 0 : (lasts[start]?.tokens ?? Infinity))
        if (tokens >= (lasts[end]?.tokens ?? Infinity)) continue
        const token = this.#vocabulary.tokenOf(bytes.subarray(start, end))
        if (token !== undefined) lasts[end] = { token, start, tokens }
      }
    }
    const found: number[] = []
    for (let end = bytes.length; end > 0;) {
      const last = lasts[end]
      if (last === undefined) throw malformed('It sent a text that none of its tokens stand for.')
      found.unshift(last.token)
      end = last.start
    }
    return found
  }

  #last(data: ServerRecord): TokenStep {
    const { stop_type: stopType, tokens_predicted: predicted, timings } = data
    const ids = this.#take([], data)
    if (predicted === undefined || data.tokens_evaluated === undefined)
      throw malformed('Its last record has no counts.')
    const kind = endOf(stopType)
    const unknownTokens = this.#unknown(predicted, kind)
    this.#counts.prompt(undefined, timings?.cache_n)
    const logprobs = this.#logprobs(data)
    this.#hasEnded = true
    return {
      ids,
      promptTokens: data.tokens_evaluated,
      ...(timings !== undefined && { cachedTokens: timings.cache_n }),
      ...(logprobs !== null && { logprobs }),
      end: { kind, ...(unknownTokens > 0 && { unknownTokens }) },
    }
  }

  /**
   * How many more tokens were made than are known of: where some were guessed, as many as have a byte, and those of a
   * character within which the limit was reached. Others that did not come are of a character that never became whole: who
   * asks for odd bytes gets such answers.
   */
  #unknown(predicted: number, end: 'stop' | 'limit'): number {
    const { received } = this.#counts
    const cutOff = end === 'limit' ? cutOffTokensMax : 0
    if (predicted <= this.#madeMost + cutOff) return Math.max(0, predicted - received)
    throw new ReplicaFault('unfit', `It sent ${received} of ${predicted} tokens: the others are no text.`)
  }

  #logprobs({ tokens }: ServerRecord): (TokenIdLogprob | null)[] | null {
    const { logprobsTop } = this.#request
    if (logprobsTop === null) return null
    return alignLogprobs({ tokens, told: this.#told, top: logprobsTop }, this.#vocabulary)
  }
}

function endOf(stopType: string | undefined): 'stop' | 'limit' {
  if (stopType === 'eos') return 'stop'
  if (stopType === 'limit') return 'limit'
  throw malformed(`It ended its answer for a reason that was not asked for: ${stopType ?? 'none'}.`)
}
