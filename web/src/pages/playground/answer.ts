import type { WireFormat } from '../../lib/wire.ts'
import type { Call } from './conversation.ts'

/** What has come of an answer so far. */
export type Answer = {
  readonly thinking: string
  readonly text: string
  readonly calls: readonly Call[]
  readonly end: string | null
  readonly inputTokens: number | null
  readonly cachedTokens: number | null
  readonly outputTokens: number | null
  readonly fault: string | null
}

export const noAnswer: Answer = {
  thinking: '',
  text: '',
  calls: [],
  end: null,
  inputTokens: null,
  cachedTokens: null,
  outputTokens: null,
  fault: null,
}

/** Adds one event of a stream to what there is. */
export function addEvent(answer: Answer, format: WireFormat, data: string): Answer {
  if (data === '[DONE]') return answer
  const event = JSON.parse(data) as ChatChunk & MessagesEvent
  if (event.error !== undefined) return { ...answer, fault: event.error.message ?? 'The answer broke off.' }
  return format === 'messages' ? addMessagesEvent(answer, event) : addChunk(answer, event)
}

type Fault = { readonly error?: { readonly message?: string } }
type ChatChunk = Fault & {
  readonly choices?: readonly { readonly delta?: ChatDelta; readonly finish_reason?: string | null }[]
  readonly usage?: (ChatUsage & MessagesUsage) | null
}
type ChatUsage = {
  readonly prompt_tokens?: number
  readonly completion_tokens?: number
  readonly prompt_tokens_details?: { readonly cached_tokens?: number }
}
type ChatDelta = {
  readonly content?: string | null
  readonly reasoning_content?: string | null
  readonly tool_calls?: readonly {
    readonly index: number
    readonly id?: string
    readonly function?: { readonly name?: string; readonly arguments?: string }
  }[]
}

function addChunk(answer: Answer, { choices, usage }: ChatChunk): Answer {
  const [choice] = choices ?? []
  const delta = choice?.delta ?? {}
  return {
    ...answer,
    thinking: answer.thinking + (delta.reasoning_content ?? ''),
    text: answer.text + (delta.content ?? ''),
    calls: (delta.tool_calls ?? []).reduce(
      (calls, part) =>
        addToCall(calls, part.index, { id: part.id, name: part.function?.name, arguments: part.function?.arguments }),
      answer.calls,
    ),
    end: choice?.finish_reason ?? answer.end,
    ...(usage !== undefined && usage !== null && chatCountsOf(usage)),
  }
}

function chatCountsOf({
  prompt_tokens: all = 0,
  completion_tokens: made = 0,
  prompt_tokens_details: details,
}: ChatUsage) {
  return { inputTokens: all, cachedTokens: details?.cached_tokens ?? 0, outputTokens: made }
}

type MessagesUsage = {
  readonly input_tokens?: number
  readonly cache_read_input_tokens?: number
  readonly cache_creation_input_tokens?: number
  readonly output_tokens?: number
}
type MessagesEvent = Fault & {
  readonly type?: string
  readonly index?: number
  readonly message?: { readonly usage?: MessagesUsage }
  readonly content_block?: { readonly type: string; readonly id?: string; readonly name?: string }
  readonly delta?: {
    readonly type?: string
    readonly text?: string
    readonly thinking?: string
    readonly partial_json?: string
    readonly stop_reason?: string
  }
  readonly usage?: MessagesUsage
}

function addMessagesEvent(answer: Answer, event: MessagesEvent): Answer {
  switch (event.type) {
    case 'message_start':
      return { ...answer, ...countsOf(event.message?.usage) }
    case 'content_block_start':
      if (event.content_block?.type !== 'tool_use') return answer
      return { ...answer, calls: addToCall(answer.calls, answer.calls.length, event.content_block) }
    case 'content_block_delta':
      return addDelta(answer, event.delta)
    case 'message_delta':
      return {
        ...answer,
        end: event.delta?.stop_reason ?? answer.end,
        outputTokens: event.usage?.output_tokens ?? answer.outputTokens,
      }
    default:
      return answer
  }
}

function addDelta(
  answer: Answer,
  { text = '', thinking = '', partial_json: json = '' }: MessagesEvent['delta'] = {},
): Answer {
  const calls = json === '' ? answer.calls : addToCall(answer.calls, answer.calls.length - 1, { arguments: json })
  return { ...answer, text: answer.text + text, thinking: answer.thinking + thinking, calls }
}

function countsOf({
  input_tokens: fresh = 0,
  cache_read_input_tokens: read = 0,
  cache_creation_input_tokens: written = 0,
}: MessagesUsage = {}) {
  return { inputTokens: fresh + read + written, cachedTokens: read }
}

type Part = {
  readonly id?: string | undefined
  readonly name?: string | undefined
  readonly arguments?: string | undefined
}

function addToCall(calls: readonly Call[], index: number, part: Part): readonly Call[] {
  const known = calls[index] ?? { id: '', name: '', arguments: '' }
  const next = {
    id: part.id ?? known.id,
    name: part.name ?? known.name,
    arguments: known.arguments + (part.arguments ?? ''),
  }
  return index < calls.length ? calls.with(index, next) : [...calls, next]
}
