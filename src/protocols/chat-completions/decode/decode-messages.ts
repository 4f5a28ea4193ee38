import type { ErrorPath, FieldFault } from '../../../core/error.ts'
import type { ImageBlock, Message, TextBlock, ThinkingBlock, ToolCallBlock } from '../../../core/generation.ts'
import { fieldError } from '../error.ts'
import type { WireAssistant, WireContent, WireMessage, WirePart, WireToolCall } from './message-schema.ts'
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

/** Reads whether the last message is to be continued. A turn that is not the model's own, or ends in a call, cannot be. */
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
  const blocks = decodeResultContent(content ?? '', path)
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

type ContentBlock = TextBlock | ImageBlock
type ImagePart = Extract<WirePart, { type: 'image_url' }>
type FilePart = Extract<WirePart, { type: 'file' }>

const plainText: readonly string[] = ['text']
const withRefusals: readonly string[] = ['text', 'refusal']
const withMedia: readonly string[] = ['text', 'image_url', 'file']

export function decodeSystemContent(content: WireContent, path: ErrorPath): TextBlock[] {
  return decodeContent(content, path, refusing(plainText)).filter((block) => block.kind === 'text')
}

export function decodeAssistantContent(content: WireContent, path: ErrorPath): TextBlock[] {
  return decodeContent(content, path, refusing(withRefusals)).filter((block) => block.kind === 'text')
}

/** What a user or a tool may say. */
export function decodeMediaContent(content: WireContent, path: ErrorPath): ContentBlock[] {
  return decodeContent(content, path, refusing(withMedia))
}

/** What a tool returned stays in the history, so what cannot be read of it must not make every later turn fail. */
function decodeResultContent(content: WireContent, path: ErrorPath): ContentBlock[] {
  return decodeContent(content, path, (part, at) => {
    const block = readPart(part, withMedia, at)
    if (!('fault' in block)) return block
    const note = part.type === 'file' ? 'file omitted: model accepts text only' : 'image omitted: it could not be read'
    return { kind: 'text', text: `[${note}]` }
  })
}

type DecodePart = (part: WirePart, path: ErrorPath) => ContentBlock

/** Neighbouring texts become one block, a line break between them; empty texts say nothing and are left out. */
function decodeContent(content: WireContent, path: ErrorPath, decodePart: DecodePart): ContentBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }]
  const blocks: ContentBlock[] = []
  for (const [index, part] of content.entries()) {
    const block = decodePart(part, [...path, index])
    const last = blocks.at(-1)
    if (block.kind === 'text' && block.text === '') continue
    if (block.kind === 'text' && last?.kind === 'text') {
      blocks[blocks.length - 1] = { kind: 'text', text: `${last.text}\n${block.text}` }
    } else {
      blocks.push(block)
    }
  }
  return blocks
}

function refusing(allowed: readonly string[]): DecodePart {
  return (part, path) => {
    const block = readPart(part, allowed, path)
    if ('fault' in block) throw fieldError(block.path, block.fault, block.text)
    return block
  }
}

/** A part of a kind that has no place here is refused; what of an image or a file cannot be read is told. */
function readPart(part: WirePart, allowed: readonly string[], path: ErrorPath): ContentBlock | Unreadable {
  if (part.type === 'input_audio')
    throw fieldError([...path, 'type'], 'unsupported-value', 'audio input is not offered')
  if (!allowed.includes(part.type)) {
    throw fieldError([...path, 'type'], 'value', `expected ${allowed.join(' or ')} in a message of this role`)
  }
  switch (part.type) {
    case 'text':
      return { kind: 'text', text: part.text }
    case 'refusal':
      return { kind: 'text', text: part.refusal }
    case 'image_url':
      return readImage(part, [...path, 'image_url'])
    case 'file':
      return readFile(part, [...path, 'file'])
  }
}

/** What is wrong with a field, in the words for it. */
type Unreadable = { readonly path: ErrorPath; readonly fault: FieldFault; readonly text: string }

function readImage(part: ImagePart, path: ErrorPath): ImageBlock | Unreadable {
  const { url } = part.image_url
  if (/^https?:/i.test(url)) return { kind: 'image', mediaType: null, data: null, path }
  const urlPath = [...path, 'url']
  const media = parseDataUrl(url, urlPath)
  if ('fault' in media) return media
  if (media.mediaType.startsWith('image/')) return { kind: 'image', ...media, path }
  return { path: urlPath, fault: 'value', text: 'expected the media type of an image' }
}

function readFile(part: FilePart, path: ErrorPath): TextBlock | Unreadable {
  const { file_id: fileId, file_data: fileData } = part.file
  if (fileId !== undefined) {
    const text = 'no files are stored, send plain text as file_data'
    return { path: [...path, 'file_id'], fault: 'unsupported-field', text }
  }
  const dataPath = [...path, 'file_data']
  if (fileData === undefined) return { path: dataPath, fault: 'missing', text: 'Field required' }
  if (!/^data:text\/plain[;,]/i.test(fileData)) {
    return { path: dataPath, fault: 'unsupported-value', text: 'expected a data URL of type text/plain' }
  }
  const media = parseDataUrl(fileData, dataPath)
  return 'fault' in media ? media : { kind: 'text', text: new TextDecoder().decode(media.data) }
}

function parseDataUrl(url: string, path: ErrorPath): { mediaType: string; data: Uint8Array } | Unreadable {
  const comma = url.indexOf(',')
  const header = url.slice(0, Math.max(comma, 0)).toLowerCase()
  const base64 = url.slice(comma + 1).replace(/\s+/g, '')
  if (!header.startsWith('data:') || !header.endsWith(';base64')) {
    return { path, fault: 'value', text: 'expected a data URL in base64' }
  }
  if (base64 === '' || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(base64))
    return { path, fault: 'value', text: 'expected valid base64' }
  const mediaType = header.slice('data:'.length).split(';')[0] ?? ''
  return { mediaType, data: new Uint8Array(Buffer.from(base64, 'base64')) }
}
