import type { BlockStart, GenerationEvent } from '../../../core/generation.ts'
import { encodeEach, type EventEncoder } from '../../encode-each.ts'
import type { AnswerMeta, Json, SseMessage } from '../../protocol.ts'
import {
  encodeBlockStart,
  encodeMessage,
  signThinking,
  toolUseIdAt,
  trimLead,
  type AnswerShape,
  encodeStop,
  encodeFinalUsage,
  encodeUsage,
} from './encode-answer.ts'

/** Every frame names its event twice: clients drop one whose `event` line is missing. */
export function toFrame(type: string, fields: { readonly [key: string]: Json }): SseMessage {
  return { event: type, data: JSON.stringify({ type, ...fields }) }
}

export const ping = toFrame('ping', {})

/**
 *     message_start ping (content_block_start content_block_delta* content_block_stop)* message_delta message_stop
 *
 * The closing frames wait for the source to end, so that a failure after its
 * last event still leaves the stream without its terminator.
 */
export function encodeStream(
  events: AsyncIterable<GenerationEvent>,
  meta: AnswerMeta,
  shape: AnswerShape,
): AsyncGenerator<SseMessage> {
  return encodeEach(events, createEventEncoder(meta, shape))
}

type Finish = Extract<GenerationEvent, { type: 'finish' }>

function createEventEncoder(meta: AnswerMeta, shape: AnswerShape): EventEncoder {
  const blocks = createBlockEncoder(meta, shape)
  let finish: Finish | null = null
  return {
    encode(event) {
      switch (event.type) {
        case 'start': {
          const message = { ...encodeMessage(meta), usage: encodeUsage(event.usage, 'started') }
          return [toFrame('message_start', { message }), ping]
        }
        case 'block-start':
          return blocks.start(event.block)
        case 'delta':
          return blocks.add(event.text)
        case 'block-end':
          return blocks.end()
        case 'finish':
          finish = event
          return []
      }
    },
    end() {
      if (finish === null) throw new Error('The stream ended without a finish event.')
      return closingFrames(finish, blocks.hasToolUse(), shape)
    },
  }
}

function closingFrames({ reason, usage }: Finish, hasToolUse: boolean, shape: AnswerShape): SseMessage[] {
  const delta = toFrame('message_delta', {
    delta: { ...encodeStop(reason, hasToolUse), container: null },
    ...(shape.reportsContextManagement && { context_management: { applied_edits: [] } }),
    usage: encodeFinalUsage(usage),
  })
  return [delta, toFrame('message_stop', {})]
}

type OpenBlock = {
  readonly block: BlockStart
  /** What was seen so far of a block that may turn out to be empty; null once its content has begun. */
  lead: string | null
  isStarted: boolean
  readonly thinking: string[]
}

/** Turns the events of blocks into frames, numbers the blocks, and holds each back until it is known to have content. */
function createBlockEncoder(meta: AnswerMeta, shape: AnswerShape) {
  let index = 0
  let hasToolUse = false
  let open: OpenBlock | null = null

  function startFrame(current: OpenBlock): SseMessage {
    current.isStarted = true
    return toFrame('content_block_start', {
      index,
      content_block: encodeBlockStart(current.block, toolUseIdAt(meta.requestId, index)),
    })
  }

  function* start(block: BlockStart): Generator<SseMessage> {
    open = { block, lead: '', isStarted: false, thinking: [] }
    if (block.kind !== 'tool-call') return
    hasToolUse = true
    yield startFrame(open)
  }

  function* add(text: string): Generator<SseMessage> {
    if (open === null) throw new Error('A delta must not come outside a block.')
    const content = passLead(open, text, (lead) => trimLead(lead, index, shape))
    if (content === '') return
    if (!open.isStarted) yield startFrame(open)
    if (open.block.kind === 'thinking') open.thinking.push(content)
    const delta = encodeDelta(open.block.kind, content, shape)
    if (delta !== null) yield toFrame('content_block_delta', { index, delta })
  }

  function* end(): Generator<SseMessage> {
    if (open?.isStarted === true) {
      if (open.block.kind === 'thinking') {
        const signature = signThinking(open.thinking.join(''), shape)
        yield toFrame('content_block_delta', { index, delta: { type: 'signature_delta', signature } })
      }
      yield toFrame('content_block_stop', { index })
      index += 1
    }
    open = null
  }

  return { start, add, end, hasToolUse: () => hasToolUse }
}

/** The part of `text` that may be sent, once it is clear that the block is more than white space. */
function passLead(open: OpenBlock, text: string, trim: (lead: string) => string): string {
  if (open.lead === null) return text
  open.lead += text
  if (!/\S/.test(text)) return ''
  const content = trim(open.lead)
  open.lead = null
  return content
}

function encodeDelta(
  kind: BlockStart['kind'],
  text: string,
  { omitsThinking }: AnswerShape,
): { readonly [key: string]: Json } | null {
  switch (kind) {
    case 'text':
      return { type: 'text_delta', text }
    case 'tool-call':
      return { type: 'input_json_delta', partial_json: text }
    case 'thinking':
      return omitsThinking ? null : { type: 'thinking_delta', thinking: text }
  }
}
