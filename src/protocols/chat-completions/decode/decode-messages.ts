import type { ErrorPath } from '../../../core/error.ts'
import type { Message, TextBlock, ThinkingBlock, ToolCallBlock } from '../../../core/generation.ts'
import { decodeAssistantContent, decodeMediaContent, decodeSystemContent } from './decode-content.ts'
import { fieldError } from '../error.ts'
import type { WireAssistant, WireMessage, WireToolCall } from './message-schema.ts'
import type { ChatBody } from './schema.ts'

type Conversation = { readonly messages: readonly Message[]; readonly continuesFinalMessage: boolean }

type Progress = {
  /** Reasoning of earlier turns is not shown to the model again. */
  readonly lastUserIndex: number
  readonly callIds: Set<string>
  latestLegacyCallId: string | null
}

export function decodeMessages(body: ChatBody): Conversation {
  const wishesToContinue = readContinuation(body)
  const wireMessages = withoutEmptyEnd(body.messages)
  if (wireMessages.length === 0) throw fieldError(['messages'], 'value', 'expected a message that is not empty')
  const progress: Progress = {
    lastUserIndex: wireMessages.findLastIndex(({ role }) => role === 'user'),
    callIds: new Set(),
    latestLegacyCallId: null,
  }
  const messages: Message[] = []
  for (const [index, message] of wireMessages.entries()) append(messages, decodeMessage(message, index, progress))
  return { messages, continuesFinalMessage: wishesToContinue && wireMessages.at(-1)?.role === 'assistant' }
}

/** Whether the last message is to be continued. A turn that is not the model's own, or ends in a call, cannot be. */
function readContinuation(body: ChatBody): boolean {
  const { continue_final_message: continues, add_generation_prompt: addsPrompt } = body
  if (continues === true && addsPrompt === true) {
    throw fieldError(['continue_final_message'], 'value', 'it excludes add_generation_prompt')
  }
  if (continues !== true && addsPrompt !== false) return false
  const field = continues === true ? 'continue_final_message' : 'add_generation_prompt'
  const last = body.messages.at(-1)
  if (last?.role !== 'assistant' || hasCalls(last)) {
    throw fieldError([field], 'value', 'only an assistant message without calls can be continued')
  }
  return true
}

/** Clients that were cut off leave an empty assistant turn behind; it says nothing. */
function withoutEmptyEnd(messages: readonly WireMessage[]): readonly WireMessage[] {
  const end = messages.findLastIndex((message) => message.role !== 'assistant' || !isEmpty(message))
  return messages.slice(0, end + 1)
}

function isEmpty(message: WireAssistant): boolean {
  const { content } = message
  const hasContent = content !== undefined && content.length > 0
  return !hasContent && !hasCalls(message) && !message.refusal && readReasoning(message) === ''
}

function hasCalls(message: WireAssistant): boolean {
  return message.function_call !== undefined || (message.tool_calls ?? []).length > 0
}

function decodeMessage(message: WireMessage, index: number, progress: Progress): Message {
  const path = ['messages', index]
  const contentPath = [...path, 'content']
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: decodeSystemContent(message.content, contentPath) }
    case 'user':
      return { role: 'user', content: decodeMediaContent(message.content, contentPath) }
    case 'assistant':
      return { role: 'assistant', content: decodeAssistant(message, index, progress) }
    case 'tool': {
      if (!progress.callIds.has(message.tool_call_id)) {
        throw fieldError([...path, 'tool_call_id'], 'value', 'no earlier tool call has this id')
      }
      return toToolResult(message.tool_call_id, message, contentPath)
    }
    case 'function': {
      if (progress.latestLegacyCallId === null) throw fieldError(path, 'value', 'no earlier function call to answer')
      return toToolResult(progress.latestLegacyCallId, message, contentPath)
    }
  }
}

type ResultMessage = Extract<WireMessage, { role: 'tool' | 'function' }>

function toToolResult(toolCallId: string, { content }: ResultMessage, path: ErrorPath): Message {
  const blocks = decodeMediaContent(content ?? '', path)
  return { role: 'user', content: [{ kind: 'tool-result', toolCallId, isError: false, content: blocks }] }
}

type AssistantBlock = ThinkingBlock | TextBlock | ToolCallBlock

function decodeAssistant(message: WireAssistant, index: number, progress: Progress): AssistantBlock[] {
  const path = ['messages', index]
  if (message.audio?.id !== undefined) throw fieldError([...path, 'audio'], 'unsupported-field', 'no audio is stored')
  if (message.content === undefined && isEmpty(message)) throw fieldError([...path, 'content'], 'missing', '')
  const blocks: AssistantBlock[] = []
  const reasoning = readReasoning(message)
  if (reasoning !== '' && index > progress.lastUserIndex) blocks.push({ kind: 'thinking', text: reasoning })
  blocks.push(...decodeAssistantContent(message.content ?? '', [...path, 'content']))
  if (message.refusal) blocks.push({ kind: 'text', text: message.refusal })
  for (const [position, call] of (message.tool_calls ?? []).entries()) {
    blocks.push(decodeCall(call, [...path, 'tool_calls', position]))
    progress.callIds.add(call.id)
  }
  if (message.function_call !== undefined) {
    progress.latestLegacyCallId = `call_legacy_${index}`
    const { name, arguments: text } = message.function_call
    blocks.push({ kind: 'tool-call', id: progress.latestLegacyCallId, name, arguments: text || '{}' })
  }
  return blocks
}

function readReasoning(message: WireAssistant): string {
  return message.reasoning_content ?? message.reasoning ?? ''
}

function decodeCall(call: WireToolCall, path: ErrorPath): ToolCallBlock {
  if (call.type === 'custom') {
    if (call.custom === undefined) throw fieldError([...path, 'custom'], 'missing', '')
    return { kind: 'tool-call', id: call.id, name: call.custom.name, arguments: call.custom.input ?? '' }
  }
  if (call.function === undefined) throw fieldError([...path, 'function'], 'missing', '')
  return { kind: 'tool-call', id: call.id, name: call.function.name, arguments: call.function.arguments || '{}' }
}

function append(messages: Message[], next: Message): void {
  const last = messages.at(-1)
  const merged = last === undefined ? null : merge(last, next)
  if (merged === null) messages.push(next)
  else messages[messages.length - 1] = merged
}

/** Many templates insist on alternating turns, so neighbours of one role become one message. */
function merge(first: Message, second: Message): Message | null {
  if (first.role === 'system' && second.role === 'system') {
    return { role: 'system', content: join(first.content, second.content) }
  }
  if (first.role === 'user' && second.role === 'user') {
    return { role: 'user', content: join(first.content, second.content) }
  }
  if (first.role === 'assistant' && second.role === 'assistant') {
    return { role: 'assistant', content: join(first.content, second.content) }
  }
  return null
}

/** A blank line marks the border of two texts that were messages of their own. */
function join<Block extends { readonly kind: string }>(
  first: readonly (TextBlock | Block)[],
  second: readonly (TextBlock | Block)[],
): (TextBlock | Block)[] {
  const [end, start] = [first.at(-1), second[0]]
  if (!isText(end) || !isText(start)) return [...first, ...second]
  const seam: TextBlock = { kind: 'text', text: `${end.text}\n\n${start.text}` }
  return [...first.slice(0, -1), seam, ...second.slice(1)]
}

function isText(block: { readonly kind: string } | undefined): block is TextBlock {
  return block?.kind === 'text'
}
