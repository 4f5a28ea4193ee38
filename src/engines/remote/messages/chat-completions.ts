// Servers that speak chat completions, whoever made them: the dialect asks for what all of them know, and for more only where
// a trial has shown that it is taken.
//
// A stream ends well with a choice that has a reason and the usage with it or behind it. `[DONE]` is no end: it follows errors
// too, and some never send it.

import { z } from 'zod'
import { isNotTaken, malformed, ReplicaFault, type Ask, type HttpRequest, type ReplicaRecord } from '../dialect.ts'
import { parseModels } from '../dialects/server-answers.ts'
import type {
  MessageDialect,
  MessageEnd,
  MessageFacts,
  MessageReader,
  MessageRequest,
  MessageStep,
  ReportedUsage,
} from './message-dialect.ts'
import { CountedOutput } from './counted-output.ts'

const path = '/v1/chat/completions'

const count = z.int().nonnegative()
const text = z.string().nullish()
const callPiece = z.object({
  index: count.nullish(),
  function: z.object({ name: text, arguments: text }).nullish(),
})
const usageSchema = z.object({
  prompt_tokens: count,
  completion_tokens: count,
  reasoning_tokens: count.nullish(),
  prompt_tokens_details: z.object({ cached_tokens: count.nullish() }).nullish(),
  completion_tokens_details: z.object({ reasoning_tokens: count.nullish() }).nullish(),
})
const recordSchema = z.object({
  error: z.undefined().optional(),
  choices: z
    .array(
      z.object({
        index: z.literal(0),
        delta: z
          .object({
            content: text,
            reasoning_content: text,
            reasoning: text,
            tool_calls: z.array(callPiece).nullish(),
          })
          .nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .max(1),
  usage: usageSchema.nullish(),
})
type Choice = z.output<typeof recordSchema>['choices'][number]

const reasons: Readonly<Record<string, MessageEnd>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'calls',
  function_call: 'calls',
  content_filter: 'refusal',
}

export const chatCompletions: MessageDialect = {
  paths: [path, '/v1/models'],
  health: { method: 'GET', path: '/v1/models' },
  toRequest,
  createReader: (request) => new Reader(request),
  probe,
}

/** Says nothing that a server made for the plain fields alone would refuse, unless it was tried before. */
function toRequest(request: MessageRequest, { modelName, takes }: MessageFacts): HttpRequest {
  const { messages, format, thinks, isolation } = request
  const body = {
    model: modelName,
    messages,
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: request.outputTokensMax,
    ...samplingFields(request.sampling),
    ...(takes.thinking && { chat_template_kwargs: { enable_thinking: thinks }, cache_salt: isolation }),
    ...toolFields(request),
    ...(format !== null && takes.schema && { response_format: formatOf(format) }),
  }
  return { method: 'POST', path, body }
}

function samplingFields(sampling: MessageRequest['sampling']) {
  const { temperature, topP, topK, minP, presencePenalty, frequencyPenalty, repetitionPenalty, seed } = sampling
  return {
    temperature: temperature ?? 1,
    top_p: topP ?? 1,
    ...(presencePenalty !== 0 && { presence_penalty: presencePenalty }),
    ...(frequencyPenalty !== 0 && { frequency_penalty: frequencyPenalty }),
    ...(seed !== null && { seed }),
    ...(topK !== null && { top_k: topK }),
    ...(minP !== null && { min_p: minP }),
    ...(repetitionPenalty !== 1 && { repetition_penalty: repetitionPenalty }),
  }
}

function toolFields({ tools, toolChoice, parallelCalls }: MessageRequest) {
  if (tools.length === 0) return {}
  return {
    tools: tools.map((tool) => ({ type: 'function', function: tool })),
    tool_choice: typeof toolChoice === 'string' ? toolChoice : { type: 'function', function: toolChoice },
    ...(!parallelCalls && { parallel_tool_calls: false }),
  }
}

function formatOf(format: NonNullable<MessageRequest['format']>) {
  if (format === 'object') return { type: 'json_object' }
  return { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: format } }
}

async function probe(ask: Ask, model: string | null): Promise<MessageFacts> {
  const models = parseModels(await ask({ method: 'GET', path: '/v1/models' }))
  const found = model === null ? models[0] : models.find(({ id }) => id === model)
  if (found === undefined) throw new ReplicaFault('rejected', `It has no model that is called ${model ?? 'anything'}.`)
  const takes = async (more: object) => {
    const messages = [{ role: 'user', content: 'Hello' }]
    try {
      await ask({ method: 'POST', path, body: { model: found.id, messages, max_tokens: 1, ...more } })
      return true
    } catch (error) {
      if (isNotTaken(error)) return false
      throw error
    }
  }
  const schema = {
    type: 'object',
    properties: { a: { type: 'integer' } },
    required: ['a'],
    additionalProperties: false,
  }
  return {
    kind: 'chat-completions',
    modelName: found.id,
    version: null,
    windowTokens: found.max_model_len ?? found.meta?.n_ctx ?? null,
    slots: null,
    heldTokensMax: null,
    route: path,
    missing: [],
    takes: {
      toolChoice: true,
      tools: true,
      schema: await takes({ response_format: formatOf(schema) }),
      thinking: await takes({ chat_template_kwargs: { enable_thinking: false }, cache_salt: 'proof' }),
    },
  }
}

class Reader implements MessageReader {
  readonly #counted: CountedOutput
  #reason: MessageEnd | null = null
  #hasEnded = false

  constructor(request: MessageRequest) {
    this.#counted = new CountedOutput(request)
  }

  read(record: ReplicaRecord): readonly MessageStep[] {
    // What comes behind the end is nobody's.
    if (this.#hasEnded || record.kind === 'done') return []
    const parsed = recordSchema.safeParse(record.value)
    if (!parsed.success) throw malformed('It sent a record that is none of an answer.', record.value)
    const { choices, usage } = parsed.data
    const [choice] = choices
    const steps = choice === undefined ? [] : this.#next(choice)
    return usage === null || usage === undefined || this.#reason === null ? steps : [...steps, this.#last(usage)]
  }

  end(): void {
    if (!this.#hasEnded) throw malformed('Its stream ended before its answer did.')
  }

  #next({ delta, finish_reason: finish }: Choice): MessageStep[] {
    const steps = delta === null || delta === undefined ? [] : stepsOf(delta)
    if (this.#reason !== null && steps.length > 0) throw malformed('It went on behind the end of its answer.')
    this.#counted.take(steps)
    if (finish === null || finish === undefined) return steps
    const reason = Object.hasOwn(reasons, finish) ? reasons[finish] : undefined
    if (reason === undefined) throw malformed(`It ended its answer for a reason that was not asked for: ${finish}.`)
    this.#reason = reason
    return steps
  }

  #last(usage: z.output<typeof usageSchema>): MessageStep {
    const counted: ReportedUsage = {
      promptTokens: usage.prompt_tokens,
      cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
      outputTokens: usage.completion_tokens,
      thinkingTokens: usage.completion_tokens_details?.reasoning_tokens ?? usage.reasoning_tokens ?? 0,
    }
    this.#counted.check(counted)
    this.#hasEnded = true
    return { kind: 'end', reason: this.#reason ?? 'stop', usage: counted }
  }
}

function stepsOf(delta: NonNullable<Choice['delta']>): MessageStep[] {
  const { reasoning_content: thinking, reasoning, content, tool_calls: calls } = delta
  const texts = [
    ['thinking', thinking ?? reasoning],
    ['text', content],
  ] as const
  const steps = texts.flatMap(([kind, text]): MessageStep[] =>
    typeof text === 'string' && text !== '' ? [{ kind, text }] : [],
  )
  return [...steps, ...(calls ?? []).map(callStep)]
}

function callStep({ index, function: piece }: z.output<typeof callPiece>): MessageStep {
  const name = piece?.name ?? ''
  return { kind: 'call', number: index ?? 0, name: name === '' ? null : name, arguments: piece?.arguments ?? '' }
}
