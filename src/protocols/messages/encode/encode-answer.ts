import type { GeneratedBlock, Generation } from '../../../core/collect.ts'
import type { AnswerMeta, Json } from '../../protocol.ts'
import {
  encodeBlockStart,
  encodeMessage,
  signThinking,
  toolUseIdAt,
  trimLead,
  type AnswerShape,
} from './answer-shape.ts'
import { encodeStop } from './stop-reason.ts'
import { encodeUsage } from './usage.ts'

/** The format knows one answer to a request. */
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

/** A call that was cut short may hold half an object, and the format has no way to say so. */
function parseInput(text: string): Json {
  try {
    const input = JSON.parse(text) as Json
    return typeof input === 'object' && !Array.isArray(input) ? (input ?? {}) : {}
  } catch {
    return {}
  }
}
