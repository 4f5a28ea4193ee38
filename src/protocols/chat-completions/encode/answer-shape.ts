import type { BlockStart } from '../../../core/generation.ts'
import type { AnswerMeta } from '../../protocol.ts'

/** What a request said about the form of its answer. */
export type AnswerShape = {
  readonly systemFingerprint: string
  readonly includesUsage: boolean
  readonly hidesThinking: boolean
  /** Names of the tools whose calls carry free text instead of JSON. */
  readonly textTools: ReadonlySet<string>
  /** The one call of the answer goes out as `function_call`. */
  readonly isLegacy: boolean
}

/** Fields that the whole answer and every chunk of a stream share, equal in all of them. */
export function answerHead(meta: AnswerMeta, object: 'chat.completion' | 'chat.completion.chunk') {
  return {
    id: `chatcmpl-${meta.requestId.slice('req_'.length)}`,
    object,
    created: Math.floor(meta.createdAtMs / 1000),
    model: meta.model,
  }
}

/**
 * Decides block by block what is sent.
 *
 * The format has one place each for reasoning, text and calls, and its clients
 * expect them in this order: they close a part when the next begins. A block
 * that comes back to an earlier part is left out of whole answers and streams
 * alike, as is a second call where the older form has room for one.
 */
export function createBlockGate(shape: AnswerShape): (kind: BlockStart['kind']) => boolean {
  let latest: BlockStart['kind'] = 'thinking'
  return (kind) => {
    if (rank[kind] < rank[latest]) return false
    if (kind === 'tool-call' && latest === 'tool-call' && shape.isLegacy) return false
    latest = kind
    return kind !== 'thinking' || !shape.hidesThinking
  }
}

const rank: Readonly<Record<BlockStart['kind'], number>> = { thinking: 0, text: 1, 'tool-call': 2 }
