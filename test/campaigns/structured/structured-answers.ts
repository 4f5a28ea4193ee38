import type { RawResponse } from '../response-reader.ts'
import { isStream } from '../answers.ts'
import { readFrames } from '../sse-frames.ts'

export type FuzzedCall = { readonly name: string; readonly text: string }

/** One answer in no format's words. */
export type StructuredAnswer = {
  readonly thinking: string
  readonly text: string
  /** The arguments, or the free text, as they were written. */
  readonly calls: readonly FuzzedCall[]
  readonly reason: string
  readonly outputTokens: number
  /** The bytes of the log-probabilities, null where there are none. */
  readonly logprobBytes: readonly number[] | null
}

type Building = { -readonly [Key in Exclude<keyof StructuredAnswer, 'calls'>]: StructuredAnswer[Key] } & {
  calls: { name: string; text: string }[]
}

/** Reads the one answer of a response, whole or streamed. */
export function readStructured(response: RawResponse, shape: 'chat' | 'messages'): StructuredAnswer {
  if (shape === 'chat') return isStream(response) ? readChatStream(response.text) : readChat(response.text)
  return isStream(response) ? readMessagesStream(response.text) : readMessages(response.text)
}

type ChatCall = {
  readonly index?: number
  readonly function?: { readonly name?: string; readonly arguments?: string }
  readonly custom?: { readonly name?: string; readonly input?: string }
}
type ChatPart = {
  readonly content?: string | null
  readonly reasoning?: string
  readonly tool_calls?: readonly ChatCall[]
}
type ChatChoice = {
  readonly message?: ChatPart
  readonly delta?: ChatPart
  readonly finish_reason: string | null
  readonly logprobs: { readonly content: readonly { readonly bytes: readonly number[] }[] } | null
}
type ChatBody = {
  readonly choices: readonly ChatChoice[]
  readonly usage?: { readonly completion_tokens: number } | null
}

function readChat(text: string): StructuredAnswer {
  const answer = empty()
  takeChat(answer, JSON.parse(text) as ChatBody)
  return answer
}

function readChatStream(text: string): StructuredAnswer {
  const answer = empty()
  for (const { data } of readFrames(text)) if (data !== '[DONE]') takeChat(answer, JSON.parse(data) as ChatBody)
  return answer
}

function takeChat(answer: Building, { choices, usage }: ChatBody): void {
  if (usage) answer.outputTokens = usage.completion_tokens
  const [choice] = choices
  if (choice === undefined) return
  const part = choice.message ?? choice.delta ?? {}
  answer.thinking += part.reasoning ?? ''
  answer.text += part.content ?? ''
  for (const [position, call] of (part.tool_calls ?? []).entries()) takeChatCall(answer, call, position)
  if (choice.finish_reason !== null) answer.reason = choice.finish_reason
  if (choice.logprobs === null) return
  answer.logprobBytes = [...(answer.logprobBytes ?? []), ...choice.logprobs.content.flatMap(({ bytes }) => bytes)]
}

function takeChatCall(answer: Building, call: ChatCall, position: number): void {
  const index = call.index ?? position
  const known = (answer.calls[index] ??= { name: '', text: '' })
  known.name += call.function?.name ?? call.custom?.name ?? ''
  known.text += call.function?.arguments ?? call.custom?.input ?? ''
}

type Block = {
  readonly type: string
  readonly text?: string
  readonly thinking?: string
  readonly name?: string
  readonly input?: unknown
}
type MessagesBody = {
  readonly content: readonly Block[]
  readonly stop_reason: string
  readonly usage: { readonly output_tokens: number }
}

function readMessages(text: string): StructuredAnswer {
  const answer = empty()
  const { content, stop_reason: reason, usage } = JSON.parse(text) as MessagesBody
  for (const { type, ...block } of content) {
    answer.thinking += block.thinking ?? ''
    answer.text += block.text ?? ''
    if (type === 'tool_use') answer.calls.push({ name: block.name ?? '', text: JSON.stringify(block.input) })
  }
  return { ...answer, reason, outputTokens: usage.output_tokens }
}

type MessagesFrame = {
  readonly type: string
  readonly content_block?: Block
  readonly delta?: {
    readonly text?: string
    readonly thinking?: string
    readonly partial_json?: string
    readonly stop_reason?: string
  }
  readonly usage?: { readonly output_tokens: number }
}

function readMessagesStream(text: string): StructuredAnswer {
  const answer = empty()
  for (const { data } of readFrames(text)) {
    const { content_block: block, delta, usage } = JSON.parse(data) as MessagesFrame
    if (block?.type === 'tool_use') answer.calls.push({ name: block.name ?? '', text: '' })
    answer.thinking += delta?.thinking ?? ''
    answer.text += delta?.text ?? ''
    const call = answer.calls.at(-1)
    if (call !== undefined) call.text += delta?.partial_json ?? ''
    if (delta?.stop_reason !== undefined) answer.reason = delta.stop_reason
    if (usage !== undefined) answer.outputTokens = usage.output_tokens
  }
  return answer
}

function empty(): Building {
  return { thinking: '', text: '', calls: [], reason: '', outputTokens: -1, logprobBytes: null }
}
