// SGLang, by `/generate`. Every record repeats all tokens so far; started with `--incremental-streaming-output` it sends the new
// ones alone, which the count beside them tells apart.

import { z } from 'zod'
import type { TableReader } from '../../text/model-text.ts'
import {
  CountCheck,
  faultOfStatus,
  isNotTaken,
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
import { GrownArrays } from './grown-arrays.ts'
import { faultOfRecord, logprobSchema, readModel, readTokens, reasonOf } from './server-answers.ts'

const count = z.int().nonnegative()
const pair = z.tuple([logprobSchema, z.int()]).rest(z.unknown())

const recordSchema = z.object({
  output_ids: z.array(z.int()),
  meta_info: z.object({
    prompt_tokens: count,
    completion_tokens: count,
    cached_tokens: count.optional(),
    finish_reason: z.object({ type: z.string(), status_code: z.int().nullish() }).nullable(),
    output_token_logprobs: z.array(pair).optional(),
    output_top_logprobs: z.array(z.array(pair).nullable()).optional(),
  }),
})
type ServerRecord = z.output<typeof recordSchema>

const loadsSchema = z.object({
  version: z.string().nullish(),
  loads: z.array(z.object({ max_total_num_tokens: z.int().nullish(), max_running_requests: z.int().nullish() })).min(1),
})

export const sglang: Dialect = {
  paths: ['/generate', '/tokenize', '/v1/models', '/v1/loads', '/health', '/abort_request'],
  health: { method: 'GET', path: '/health' },
  cachedTokens: 'start',
  isolates: true,
  toRequest,
  createReader: (request, vocabulary) => new Reader(request, vocabulary),
  abort: (requestId) => ({ method: 'POST', path: '/abort_request', body: { rid: requestId } }),
  probe,
  tokenize: (text, { modelName }) => ({
    request: { method: 'POST', path: '/tokenize', body: { model: modelName, prompt: text, add_special_tokens: false } },
    read: readTokens,
  }),
}

async function probe(ask: Ask): Promise<ReplicaFacts> {
  const model = await readModel(ask)
  const loads = loadsSchema.safeParse(await ask({ method: 'GET', path: '/v1/loads?include=core' }).catch(orNothing))
  const [load] = loads.data?.loads ?? []
  return {
    kind: 'sglang',
    modelName: model.id,
    version: loads.data?.version ?? null,
    // Its /tokenize tells of a larger window than it has.
    windowTokens: model.max_model_len ?? null,
    slots: load?.max_running_requests ?? null,
    heldTokensMax: load?.max_total_num_tokens ?? null,
    route: '/generate',
    missing: [],
  }
}

/** Older versions do not tell of their load. */
function orNothing(error: unknown): null {
  if (isNotTaken(error)) return null
  throw error
}

/** It refuses larger ones. */
const repetitionPenaltyMost = 2

function toRequest(request: TokenRequest): HttpRequest {
  const { sampling, grammar, logprobsTop } = request
  const biases = [...sampling.logitBias, ...request.bannedTokens.map((token) => [token, -1e9] as const)]
  const body = {
    input_ids: listTokens(request.tokens),
    stream: true,
    rid: request.requestId,
    extra_key: request.isolation,
    // A grammar would wait for the end of a thought that the prompt has closed.
    require_reasoning: false,
    return_logprob: logprobsTop !== null,
    top_logprobs_num: logprobsTop ?? 0,
    sampling_params: {
      max_new_tokens: request.outputTokensMax,
      min_new_tokens: 0,
      temperature: sampling.temperature ?? 1,
      top_p: sampling.topP ?? 1,
      top_k: sampling.topK === null || sampling.topK === 0 ? -1 : sampling.topK,
      min_p: sampling.minP ?? 0,
      presence_penalty: sampling.presencePenalty,
      frequency_penalty: sampling.frequencyPenalty,
      repetition_penalty: Math.min(sampling.repetitionPenalty, repetitionPenaltyMost),
      sampling_seed: sampling.seed,
      ignore_eos: false,
      skip_special_tokens: false,
      stop_token_ids: request.endTokens,
      ...(biases.length > 0 && { logit_bias: Object.fromEntries(biases) }),
      ...(grammar !== null && { ebnf: grammar }),
    },
  }
  return { method: 'POST', path: '/generate', body }
}

class Reader implements RecordReader {
  readonly #request: TokenRequest
  readonly #vocabulary: TableReader
  readonly #counts: CountCheck
  readonly #grown = new GrownArrays(['output_ids', 'output_token_logprobs', 'output_top_logprobs'])
  /** Whether a record has repeated what was in the one before it. */
  #repeats = false
  #hasEnded = false

  constructor(request: TokenRequest, vocabulary: TableReader) {
    this.#request = request
    this.#vocabulary = vocabulary
    this.#counts = new CountCheck(request)
  }

  get missing(): readonly string[] {
    return this.#repeats ? ['--incremental-streaming-output'] : []
  }

  read(record: ReplicaRecord): TokenStep {
    if (this.#hasEnded || record.kind === 'done') return { ids: [] }
    const { output_ids: sent, meta_info: about } = this.#parse(record)
    const { type, status_code: status } = about.finish_reason ?? {}
    // What it counts is no longer the request then: it has let go of the prompt.
    if (type === 'abort' && typeof status === 'number')
      throw faultOfStatus(status, `It ended its answer with an error (${status}).`, about.finish_reason)
    this.#counts.prompt(about.prompt_tokens, about.cached_tokens)
    const from = this.#firstNew(sent, about.completion_tokens)
    this.#repeats ||= from > 0
    const ids = sent.slice(from)
    this.#counts.take(ids, this.#vocabulary)
    this.#counts.output(about.completion_tokens)
    const end = about.finish_reason === null ? null : reasonOf(about.finish_reason.type)
    this.#hasEnded = end !== null
    return {
      ids,
      promptTokens: about.prompt_tokens,
      ...(about.cached_tokens !== undefined && { cachedTokens: about.cached_tokens }),
      ...this.#logprobs(about, ids.length),
      ...(end !== null && { end: { kind: end } }),
    }
  }

  end(): void {
    if (!this.#hasEnded) throw malformed('Its stream ended before its answer did.')
  }

  #parse(record: Extract<ReplicaRecord, { kind: 'json' }>): ServerRecord {
    const news = this.#repeats ? recordSchema.safeParse(this.#grown.read(record.bytes)) : null
    if (news?.success === true) return news.data
    const whole = recordSchema.safeParse(record.value)
    if (!whole.success) throw faultOfRecord(record.value)
    return whole.data
  }

  /** Where in the tokens that were sent those begin that are new. */
  #firstNew(sent: readonly number[], counted: number): number {
    if (counted === sent.length && counted >= this.#counts.received) return this.#counts.received
    if (counted === this.#counts.received + sent.length) return 0
    throw new ReplicaFault(
      'lied',
      `It counted ${counted} tokens, sent ${sent.length}, and ${this.#counts.received} had come.`,
    )
  }

  /** Some versions that send the new tokens alone send the probabilities of all of them: the new ones are the last. */
  #logprobs(about: ServerRecord['meta_info'], length: number): { logprobs?: TokenIdLogprob[] } {
    const { logprobsTop } = this.#request
    if (logprobsTop === null) return {}
    const { output_token_logprobs: chosen = [], output_top_logprobs: tops = [], completion_tokens: counted } = about
    if (chosen.length !== length && chosen.length !== counted)
      throw malformed('It gives another number of probabilities than of tokens.')
    const before = chosen.length - length
    const logprobs = chosen.slice(before).map(([logprob], index) => {
      const top = (tops[before + index] ?? []).slice(0, logprobsTop).map(([other, id]) => ({ id, logprob: other }))
      return { logprob, top }
    })
    return { logprobs }
  }
}
