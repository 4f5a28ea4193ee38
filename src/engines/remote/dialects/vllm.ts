// vLLM, by `/inference/v1/generate` where it was started with `--enable-scale-out`, and else by `/v1/completions`, which takes
// tokens and gives them back too.
//
// Its stream ends well in three records: a choice with a reason, the usage, `[DONE]`. Stopped in the midst it sends an error and
// `[DONE]`, or the reason `abort` with both: so only the usage behind a reason that was asked for is an end. The usage alone says
// how much of the prompt was held, also where it is asked for with every record.

import { z } from 'zod'
import type { TableReader } from '../../text/model-text.ts'
import {
  CountCheck,
  isNotTaken,
  listTokens,
  malformed,
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
import { faultOfRecord, logprobSchema, readModel, readTokens, reasonOf } from './server-answers.ts'

const generatePath = '/inference/v1/generate'
const abortPath = '/inference/v1/abort_requests'
const completionsPath = '/v1/completions'
/** Written by the engine in front of the id that a request was given. */
const generatedPrefix = 'generate-tokens-'

const count = z.int().nonnegative()
const entry = z.object({ token_id: z.int(), logprob: logprobSchema })
const byId = z.object({ content: z.array(entry.extend({ top_logprobs: z.array(entry) })) })
/** Tokens are written as `token_id:504` where that was asked for. */
const byText = z.object({
  tokens: z.array(z.string()),
  token_logprobs: z.array(logprobSchema),
  top_logprobs: z.array(z.record(z.string(), logprobSchema)).nullish(),
})

const usageSchema = z.object({
  usage: z
    .object({
      prompt_tokens: count,
      completion_tokens: count,
      prompt_tokens_details: z.object({ cached_tokens: count.nullish() }).nullish(),
    })
    .nullish(),
})

const recordSchema = usageSchema.extend({
  choices: z
    .array(
      z.object({
        index: z.literal(0),
        token_ids: z.array(z.int()).nullish(),
        finish_reason: z.string().nullish(),
        logprobs: z.union([byId, byText]).nullish(),
      }),
    )
    .max(1),
})
type ServerRecord = z.output<typeof recordSchema>

const versionSchema = z.object({ version: z.string() })

export const vllm: Dialect = {
  paths: [generatePath, abortPath, completionsPath, '/tokenize', '/v1/models', '/version', '/health'],
  health: { method: 'GET', path: '/health' },
  cachedTokens: 'end',
  isolates: true,
  toRequest,
  createReader: (request, vocabulary) => new Reader(request, vocabulary),
  abort: (requestId, { route }) =>
    route === generatePath
      ? { method: 'POST', path: abortPath, body: { request_ids: [`${generatedPrefix}${requestId}`] } }
      : null,
  probe,
  tokenize: (text, { modelName }) => ({
    request: { method: 'POST', path: '/tokenize', body: { model: modelName, prompt: text, add_special_tokens: false } },
    read: readTokens,
  }),
}

async function probe(ask: Ask): Promise<ReplicaFacts> {
  const model = await readModel(ask)
  const version = versionSchema.safeParse(await ask({ method: 'GET', path: '/version' }))
  const shortest = { max_tokens: 1, temperature: 0 }
  const body = { model: model.id, token_ids: [1], sampling_params: shortest }
  const tried = await ask({ method: 'POST', path: generatePath, body }).catch((error: unknown) => {
    if (isNotTaken(error)) return null
    throw error
  })
  const missing = tried === null ? ['--enable-scale-out'] : []
  const answer =
    tried ?? (await ask({ method: 'POST', path: completionsPath, body: { ...shortest, model: model.id, prompt: [1] } }))
  const { data } = usageSchema.safeParse(answer)
  if (data !== undefined && typeof data.usage?.prompt_tokens_details?.cached_tokens !== 'number')
    missing.push('--enable-prompt-tokens-details')
  return {
    kind: 'vllm',
    modelName: model.id,
    version: version.data?.version ?? null,
    windowTokens: model.max_model_len ?? null,
    slots: null,
    heldTokensMax: null,
    route: tried === null ? completionsPath : generatePath,
    missing,
  }
}

/** Every sampling field is sent: what is unset it fills from the weights' own settings. */
function toRequest(request: TokenRequest, { modelName, route }: ReplicaFacts): HttpRequest {
  const { sampling, grammar, logprobsTop } = request
  const biases = [...sampling.logitBias, ...request.bannedTokens.map((token) => [token, -100] as const)]
  const params = {
    max_tokens: request.outputTokensMax,
    min_tokens: 0,
    temperature: sampling.temperature ?? 1,
    top_p: sampling.topP ?? 1,
    top_k: sampling.topK ?? 0,
    min_p: sampling.minP ?? 0,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    repetition_penalty: sampling.repetitionPenalty,
    seed: sampling.seed,
    ignore_eos: false,
    skip_special_tokens: false,
    stop_token_ids: request.endTokens,
    ...(biases.length > 0 && { logit_bias: Object.fromEntries(biases) }),
    ...(logprobsTop !== null && { logprobs: logprobsTop }),
    ...(grammar !== null && { structured_outputs: { grammar } }),
  }
  const common = {
    model: modelName,
    stream: true,
    stream_options: { include_usage: true },
    cache_salt: request.isolation,
  }
  const tokens = listTokens(request.tokens)
  if (route === generatePath) {
    // With a reasoning parser a grammar would wait for the end of a thought that the prompt has closed.
    const sampled = grammar === null ? params : { ...params, reasoning_ended: true }
    const body = { ...common, request_id: request.requestId, token_ids: tokens, sampling_params: sampled }
    return { method: 'POST', path: route, body }
  }
  const asIds = { return_token_ids: true, return_tokens_as_token_ids: true }
  return { method: 'POST', path: completionsPath, body: { ...common, ...params, ...asIds, prompt: tokens, n: 1 } }
}

class Reader implements RecordReader {
  readonly #request: TokenRequest
  readonly #vocabulary: TableReader
  readonly #counts: CountCheck
  #reason: 'stop' | 'limit' | null = null
  #isStopped = false
  #hasEnded = false

  constructor(request: TokenRequest, vocabulary: TableReader) {
    this.#request = request
    this.#vocabulary = vocabulary
    this.#counts = new CountCheck(request)
  }

  stopped(): void {
    this.#isStopped = true
  }

  read(record: ReplicaRecord): TokenStep {
    if (this.#hasEnded || record.kind === 'done') return { ids: [] }
    const parsed = recordSchema.safeParse(record.value)
    if (!parsed.success) throw faultOfRecord(record.value)
    const { choices, usage } = parsed.data
    const [choice] = choices
    const step = choice === undefined ? { ids: [] } : this.#next(choice)
    return usage === null || usage === undefined || this.#reason === null ? step : { ...step, ...this.#last(usage) }
  }

  end(): void {
    if (!this.#hasEnded) throw malformed('Its stream ended before its answer did.')
  }

  #next({ token_ids: ids, finish_reason: reason, logprobs }: ServerRecord['choices'][number]): TokenStep {
    if (this.#reason !== null) throw malformed('It went on behind the end of its answer.')
    if (ids === null || ids === undefined) throw malformed('It gives no tokens back.')
    this.#counts.take(ids, this.#vocabulary)
    if (reason !== null && reason !== undefined)
      this.#reason = this.#isStopped && reason === 'abort' ? 'stop' : reasonOf(reason)
    return { ids, ...this.#logprobs(ids, logprobs ?? null) }
  }

  #last(usage: NonNullable<ServerRecord['usage']>): Omit<TokenStep, 'ids'> {
    const cached = usage.prompt_tokens_details?.cached_tokens ?? undefined
    this.#counts.prompt(usage.prompt_tokens, cached)
    this.#counts.output(usage.completion_tokens)
    this.#hasEnded = true
    return {
      promptTokens: usage.prompt_tokens,
      ...(cached !== undefined && { cachedTokens: cached }),
      end: { kind: this.#reason ?? 'stop' },
    }
  }

  #logprobs(ids: readonly number[], found: z.output<typeof byId> | z.output<typeof byText> | null) {
    const { logprobsTop } = this.#request
    if (logprobsTop === null) return {}
    const list = found === null ? [] : 'content' in found ? fromIds(found) : fromTexts(found)
    if (list.length !== ids.length) throw malformed('It gives another number of probabilities than of tokens.')
    return { logprobs: list.map(({ logprob, top }) => ({ logprob, top: top.slice(0, logprobsTop) })) }
  }
}

function fromIds({ content }: z.output<typeof byId>): TokenIdLogprob[] {
  return content.map(({ logprob, top_logprobs: top }) => ({
    logprob,
    top: top.map((other) => ({ id: other.token_id, logprob: other.logprob })),
  }))
}

function fromTexts({ token_logprobs: logprobs, top_logprobs: tops }: z.output<typeof byText>): TokenIdLogprob[] {
  return logprobs.map((logprob, index) => {
    const top = Object.entries(tops?.[index] ?? {}).map(([text, other]) => ({ id: idIn(text), logprob: other }))
    return { logprob, top: top.toSorted((a, b) => b.logprob - a.logprob) }
  })
}

function idIn(text: string): number {
  const id = /^token_id:(\d+)$/.exec(text)?.[1]
  if (id === undefined) throw malformed('It names a token by its text.')
  return Number(id)
}
