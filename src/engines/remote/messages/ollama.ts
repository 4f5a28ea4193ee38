// Ollama, by its own `/api/chat`: the other route cuts a prompt that is too long in half and says nothing of it. Records are
// lines of JSON, and the last one says that it is and what was counted.

import { z } from 'zod'
import type { TemplateMessage } from '../../../chat-format/chat-template.ts'
import { parseJson } from '../../../lib/json/parse-json.ts'
import { malformed, ReplicaFault, type Ask, type HttpRequest, type ReplicaRecord } from '../dialect.ts'
import { CountedOutput } from './counted-output.ts'
import type {
  MessageDialect,
  MessageEnd,
  MessageFacts,
  MessageReader,
  MessageRequest,
  MessageStep,
} from './message-dialect.ts'

const path = '/api/chat'

const count = z.int().nonnegative()
const recordSchema = z.object({
  error: z.undefined().optional(),
  message: z
    .object({
      content: z.string().nullish(),
      thinking: z.string().nullish(),
      tool_calls: z
        .array(z.object({ function: z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()) }) }))
        .nullish(),
    })
    .nullish(),
  done: z.boolean(),
  done_reason: z.string().nullish(),
  prompt_eval_count: count.nullish(),
  eval_count: count.nullish(),
})
type ServerRecord = z.output<typeof recordSchema>

const tagsSchema = z.object({
  models: z.array(z.object({ name: z.string(), capabilities: z.array(z.string()).nullish() })),
})
const loadedSchema = z.object({
  models: z.array(z.object({ name: z.string(), context_length: z.int().min(1).nullish() })),
})

export const ollama: MessageDialect = {
  paths: [path, '/api/tags', '/api/ps', '/api/version'],
  health: { method: 'GET', path: '/api/version' },
  toRequest,
  createReader: (request) => new Reader(request),
  probe,
}

function toRequest(request: MessageRequest, { modelName, takes }: MessageFacts): HttpRequest {
  const { messages, tools, format, sampling, thinks } = request
  const { temperature, topP, topK, minP, presencePenalty, frequencyPenalty, repetitionPenalty, seed } = sampling
  const options = {
    num_predict: request.outputTokensMax,
    temperature: temperature ?? 1,
    top_p: topP ?? 1,
    // What is left out is filled from the model's own settings.
    top_k: topK ?? 0,
    min_p: minP ?? 0,
    presence_penalty: presencePenalty,
    frequency_penalty: frequencyPenalty,
    repeat_penalty: repetitionPenalty,
    ...(seed !== null && { seed }),
  }
  const body = {
    model: modelName,
    messages: toMessages(messages),
    stream: true,
    truncate: false,
    shift: false,
    options,
    ...(takes.thinking && { think: thinks }),
    ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
    ...(format !== null && { format: format === 'object' ? 'json' : format }),
  }
  return { method: 'POST', path, body }
}

/** Its arguments of calls are objects, and a result names the tool instead of the call. */
function toMessages(messages: readonly TemplateMessage[]) {
  const names = new Map<string, string>()
  return messages.map(({ role, content, reasoning_content: thinking, tool_calls: calls, tool_call_id: id }) => {
    for (const call of calls ?? []) names.set(call.id, call.function.name)
    const name = id === undefined ? undefined : names.get(id)
    return {
      role,
      content: content ?? '',
      ...(thinking !== undefined && { thinking }),
      ...(calls !== undefined && {
        tool_calls: calls.map(({ function: called }) => ({
          function: { name: called.name, arguments: objectOf(called.arguments) },
        })),
      }),
      ...(name !== undefined && { tool_name: name }),
    }
  })
}

function objectOf(text: object | string): object {
  const value = typeof text === 'string' ? parseJson(text) : text
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}

async function probe(ask: Ask, model: string | null): Promise<MessageFacts> {
  const tags = tagsSchema.safeParse(await ask({ method: 'GET', path: '/api/tags' }))
  if (!tags.success) throw malformed('Its /api/tags is not that of Ollama.')
  const found = tags.data.models.find(({ name }) => model === null || name === model || name === `${model}:latest`)
  if (found === undefined) throw new ReplicaFault('rejected', `It has no model that is called ${model ?? 'anything'}.`)
  const can = (what: string) => found.capabilities?.includes(what) === true
  const version = z.object({ version: z.string() }).safeParse(await ask({ method: 'GET', path: '/api/version' }))
  // The window is told of a model that is loaded.
  const options = { num_predict: 1 }
  const messages = [{ role: 'user', content: 'Hello' }]
  await ask({ method: 'POST', path, body: { model: found.name, messages, stream: false, truncate: false, options } })
  const loaded = loadedSchema.safeParse(await ask({ method: 'GET', path: '/api/ps' }))
  return {
    kind: 'ollama',
    modelName: found.name,
    version: version.data?.version ?? null,
    windowTokens: loaded.data?.models.find(({ name }) => name === found.name)?.context_length ?? null,
    slots: null,
    heldTokensMax: null,
    route: path,
    missing: [],
    takes: { toolChoice: false, tools: can('tools'), schema: true, thinking: can('thinking') },
  }
}

const reasons: Readonly<Record<string, MessageEnd>> = { stop: 'stop', length: 'length' }

class Reader implements MessageReader {
  readonly #counted: CountedOutput
  #calls = 0
  #hasEnded = false

  constructor(request: MessageRequest) {
    this.#counted = new CountedOutput(request)
  }

  read(record: ReplicaRecord): readonly MessageStep[] {
    if (this.#hasEnded || record.kind === 'done') return []
    const parsed = recordSchema.safeParse(record.value)
    if (!parsed.success) throw malformed('It sent a record that is none of an answer.', record.value)
    const steps = this.#next(parsed.data)
    this.#counted.take(steps)
    return parsed.data.done ? [...steps, this.#last(parsed.data)] : steps
  }

  end(): void {
    if (!this.#hasEnded) throw malformed('Its stream ended before its answer did.')
  }

  #next({ message }: ServerRecord): MessageStep[] {
    const steps: MessageStep[] = []
    for (const [kind, piece] of [
      ['thinking', message?.thinking],
      ['text', message?.content],
    ] as const)
      if (piece !== undefined && piece !== null && piece !== '') steps.push({ kind, text: piece })
    for (const { function: called } of message?.tool_calls ?? []) {
      const text = JSON.stringify(called.arguments)
      steps.push({ kind: 'call', number: this.#calls++, name: called.name, arguments: text })
    }
    return steps
  }

  #last({ done_reason: reason, prompt_eval_count: promptTokens, eval_count: outputTokens }: ServerRecord): MessageStep {
    const end = reasons[reason ?? '']
    if (end === undefined)
      throw malformed(`It ended its answer for a reason that was not asked for: ${reason ?? 'none'}.`)
    if (typeof promptTokens !== 'number' || typeof outputTokens !== 'number')
      throw malformed('Its last record has no counts.')
    const usage = { promptTokens, cachedTokens: 0, outputTokens, thinkingTokens: 0 }
    this.#counted.check(usage)
    this.#hasEnded = true
    return { kind: 'end', reason: end === 'stop' && this.#calls > 0 ? 'calls' : end, usage }
  }
}
