import type { GeneratedBlock, Generation } from '../../../core/collect.ts'
import type { BlockStart, FinishReason, Usage } from '../../../core/generation.ts'
import type { RequestId } from '../../../core/ids.ts'
import { parseKeepingNumbers } from '../../../lib/json/parse-keeping-numbers.ts'
import type { AnswerMeta, Json } from '../../protocol.ts'
import type { ThinkingSignature } from '../thinking-signature.ts'

/** What a request said about its answer's shape. */
export type AnswerShape = {
  readonly signature: ThinkingSignature
  readonly omitsThinking: boolean
  /** The answer goes on from a text the client began, so its white space counts from the first character. */
  readonly continuesText: boolean
  readonly reportsContextManagement: boolean
}

type Fields = { readonly [key: string]: Json }

/** Encodes a whole answer, of which the format knows one to a request. The parts that a stream has in common with it stand below. */
export function encodeAnswer([answer]: readonly Generation[], meta: AnswerMeta, shape: AnswerShape): Json {
  if (answer === undefined) throw new Error('There is no answer to encode.')
  const content: Json[] = []
  for (const block of answer.blocks) {
    const encoded = encodeBlock(block, content.length, meta, shape)
    if (encoded !== null) content.push(encoded)
  }
  const hasToolUse = answer.blocks.some(({ kind }) => kind === 'tool-call')
  return {
    ...encodeMessage(meta),
    content,
    ...encodeStop(answer.reason, hasToolUse),
    ...(shape.reportsContextManagement && { context_management: { applied_edits: [] } }),
    usage: encodeUsage(answer.usage, 'complete'),
  }
}

/** Null for a block without content, which the format does not allow. */
function encodeBlock(block: GeneratedBlock, index: number, meta: AnswerMeta, shape: AnswerShape): Json | null {
  const empty = encodeBlockStart(block, toolUseIdAt(meta.requestId, index))
  if (block.kind === 'tool-call') return { ...empty, input: parseInput(block.text) }
  const text = trimLead(block.text, index, shape)
  if (text === '') return null
  if (block.kind === 'text') return { ...empty, text }
  return { ...empty, thinking: shape.omitsThinking ? '' : text, signature: signThinking(text, shape) }
}

/**
 * A call that was cut short may hold half an object, and the format has no way to say so. Numbers stay as the model has
 * written them, as they do in a stream.
 */
function parseInput(text: string): Json {
  if (!text.trimStart().startsWith('{')) return {}
  try {
    return parseKeepingNumbers(text) as Json
  } catch {
    return {}
  }
}

/** The fields of a message that are the same whether it is complete or about to stream. */
export function encodeMessage({ requestId, model }: AnswerMeta): Fields {
  return {
    id: `msg_${uniquePart(requestId)}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
  }
}

/** A block as it opens in a stream: whatever it will hold is still empty. */
export function encodeBlockStart(block: BlockStart, toolUseId: string): Fields {
  switch (block.kind) {
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' }
    case 'text':
      return { type: 'text', text: '', citations: null }
    case 'tool-call':
      return { type: 'tool_use', id: toolUseId, name: block.name, input: {}, caller: { type: 'direct' } }
  }
}

/** Made from the request's id: an engine's own id may repeat within a conversation, or betray the engine. */
export function toolUseIdAt(requestId: RequestId, index: number): string {
  return `toolu_${uniquePart(requestId)}_${index}`
}

export function signThinking(text: string, { signature, omitsThinking }: AnswerShape): string {
  return omitsThinking ? signature.seal(text) : signature.sign(text)
}

function uniquePart(requestId: RequestId): string {
  return requestId.slice('req_'.length)
}

/** Trims a block's text to what is sent: nothing of mere white space, and no blank lines in front unless they count. */
export function trimLead(text: string, index: number, { continuesText }: AnswerShape): string {
  if (!/\S/.test(text)) return ''
  return continuesText && index === 0 ? text : text.replace(/^\s*\n/, '')
}

/** Says why an answer ended. One that ends of itself after a tool call waits for the tool, whatever the engine called it. */
export function encodeStop(reason: FinishReason, hasToolUse: boolean): Fields {
  return {
    stop_reason: nameReason(reason, hasToolUse),
    stop_sequence: reason.kind === 'stop-sequence' ? reason.sequence : null,
    stop_details: reason.kind === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null,
  }
}

function nameReason({ kind }: FinishReason, hasToolUse: boolean): string {
  switch (kind) {
    case 'end':
      return hasToolUse ? 'tool_use' : 'end_turn'
    case 'tool-calls':
      return 'tool_use'
    case 'length':
      return 'max_tokens'
    case 'window':
      return 'model_context_window_exceeded'
    case 'stop-sequence':
      return 'stop_sequence'
    case 'refusal':
      return 'refusal'
  }
}

/** The usage of a message. One that has not begun yet has no details of its output. */
export function encodeUsage(usage: Usage, state: 'started' | 'complete'): Fields {
  return {
    ...encodeInput(usage),
    cache_creation: {
      ephemeral_5m_input_tokens: usage.inputCacheWrite - usage.inputCacheWriteLong,
      ephemeral_1h_input_tokens: usage.inputCacheWriteLong,
    },
    // Some clients add this number to the final one, so it stays 0 until then.
    output_tokens: state === 'complete' ? usage.output : 0,
    output_tokens_details: state === 'complete' ? encodeOutputDetails(usage) : null,
    server_tool_use: null,
    service_tier: 'standard',
    inference_geo: null,
    speed: 'standard',
  }
}

/** The totals at the end of a stream; they replace those it began with. */
export function encodeFinalUsage(usage: Usage): Fields {
  return {
    ...encodeInput(usage),
    output_tokens: usage.output,
    output_tokens_details: encodeOutputDetails(usage),
    server_tool_use: null,
  }
}

function encodeInput(usage: Usage): Fields {
  return {
    input_tokens: usage.inputUncached,
    cache_creation_input_tokens: usage.inputCacheWrite,
    cache_read_input_tokens: usage.inputCacheRead,
  }
}

function encodeOutputDetails(usage: Usage): Fields {
  return { thinking_tokens: usage.outputThinking }
}
