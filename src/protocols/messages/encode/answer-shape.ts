import type { BlockStart } from '../../../core/generation.ts'
import type { RequestId } from '../../../core/ids.ts'
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

/** The fields of a message that are the same whether it is complete or about to stream. */
export function encodeMessage({ requestId, model }: AnswerMeta): { readonly [key: string]: Json } {
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
export function encodeBlockStart(block: BlockStart, toolUseId: string): { readonly [key: string]: Json } {
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

/** What is sent of a block's text: nothing of mere white space, and no blank lines in front unless they count. */
export function trimLead(text: string, index: number, { continuesText }: AnswerShape): string {
  if (!/\S/.test(text)) return ''
  return continuesText && index === 0 ? text : text.replace(/^\s*\n/, '')
}
