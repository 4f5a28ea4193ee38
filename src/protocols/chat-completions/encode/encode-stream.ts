import {
  addAnswer,
  zeroUsage,
  type BlockStart,
  type FinishReason,
  type GenerationEvent,
  type TokenLogprob,
  type Usage,
} from '../../../core/generation.ts'
import { encodeEach, type EventEncoder } from '../../encode-each.ts'
import type { AnswerMeta, Json, SseMessage } from '../../protocol.ts'
import { answerHead, createBlockGate, type AnswerShape } from './answer-shape.ts'
import { encodeFinishReason, isCut } from './finish-reason.ts'
import { encodeLogprobs } from './logprobs.ts'
import { encodeUsage } from './usage.ts'

type Delta = { readonly [key: string]: Json }

/**
 * One chunk per event that says something:
 *
 *     role (reasoning* text* (call arguments*)*) finish usage? [DONE]
 */
export function encodeStream(
  events: AsyncIterable<GenerationEvent>,
  meta: AnswerMeta,
  shape: AnswerShape,
): AsyncGenerator<SseMessage> {
  return encodeEach(events, createEventEncoder(meta, shape))
}

function createEventEncoder(meta: AnswerMeta, shape: AnswerShape): EventEncoder {
  const frame = createFrames({
    ...answerHead(meta, 'chat.completion.chunk'),
    system_fingerprint: shape.systemFingerprint,
  })
  let encoder = new ChoiceEncoder(shape, 0)
  const usages: Usage[] = []
  return {
    encode(event) {
      if (event.type === 'start') encoder = new ChoiceEncoder(shape, usages.length)
      if (event.type === 'finish') usages.push(event.usage)
      const rest = shape.includesUsage ? { usage: null } : {}
      return encoder.encode(event).map((choice) => frame({ choices: [choice], ...rest }))
    },
    end() {
      if (!encoder.hasFinished) throw new Error('The stream ended without a finish event.')
      const done = { data: '[DONE]' }
      if (!shape.includesUsage) return [done]
      return [frame({ choices: [], usage: encodeUsage(usages.reduce(addAnswer, zeroUsage)) }), done]
    },
  }
}

/** Chunks that all begin with the same fields, which are therefore made into text only once. */
function createFrames(head: Delta): (rest: Delta) => SseMessage {
  const begin = JSON.stringify(head).slice(0, -1)
  return (rest) => ({ data: `${begin},${JSON.stringify(rest).slice(1)}` })
}

class ChoiceEncoder {
  readonly #index: number
  readonly #shape: AnswerShape
  readonly #passes: (kind: BlockStart['kind']) => boolean
  /** The block that deltas belong to; null also while a block is not sent. */
  #open: BlockStart | null = null
  #callCount = 0
  /** Whether the latest call still has no arguments: `{}` is sent once it is known to be complete. */
  #lacksArguments = false
  #hasFinished = false

  constructor(shape: AnswerShape, index: number) {
    this.#index = index
    this.#shape = shape
    this.#passes = createBlockGate(shape)
  }

  get hasFinished(): boolean {
    return this.#hasFinished
  }

  encode(event: GenerationEvent): Json[] {
    switch (event.type) {
      case 'start':
        return [this.#choice({ role: 'assistant', content: '', refusal: null })]
      case 'block-start':
        return this.#openBlock(event.block)
      case 'delta':
        return this.#encodeDelta(event.text, event.logprobs)
      case 'block-end':
        this.#open = null
        return []
      case 'finish':
        return this.#finish(event.reason)
    }
  }

  #openBlock(block: BlockStart): Json[] {
    const completed = this.#completeCall()
    this.#open = this.#passes(block.kind) ? block : null
    if (this.#open?.kind !== 'tool-call') return completed
    this.#callCount += 1
    this.#lacksArguments = !this.#shape.textTools.has(this.#open.name)
    return [...completed, this.#choice(this.#startCall(this.#open))]
  }

  #completeCall(): Json[] {
    if (!this.#lacksArguments) return []
    this.#lacksArguments = false
    return [this.#choice(this.#continueCall('{}', false))]
  }

  #encodeDelta(text: string, logprobs: readonly TokenLogprob[] | undefined): Json[] {
    const block = this.#open
    if (block === null || (text === '' && (block.kind !== 'text' || logprobs === undefined))) return []
    switch (block.kind) {
      case 'thinking':
        return [this.#choice({ reasoning_content: text, reasoning: text })]
      case 'text':
        return [this.#choice({ content: text }, logprobs)]
      case 'tool-call':
        this.#lacksArguments = false
        return [this.#choice(this.#continueCall(text, this.#shape.textTools.has(block.name)))]
    }
  }

  #startCall({ id, name }: Extract<BlockStart, { kind: 'tool-call' }>): Delta {
    const index = this.#callCount - 1
    if (this.#shape.isLegacy) return { function_call: { name, arguments: '' } }
    if (this.#shape.textTools.has(name)) {
      return { tool_calls: [{ index, id, type: 'custom', custom: { name, input: '' } }] }
    }
    return { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }
  }

  /** Nothing but the text: clients take a repeated name or type, even null, for another call. */
  #continueCall(text: string, isCustom: boolean): Delta {
    const index = this.#callCount - 1
    if (this.#shape.isLegacy) return { function_call: { arguments: text } }
    if (isCustom) return { tool_calls: [{ index, custom: { input: text } }] }
    return { tool_calls: [{ index, function: { arguments: text } }] }
  }

  #finish(reason: FinishReason): Json[] {
    this.#hasFinished = true
    const completed = isCut(reason) ? [] : this.#completeCall()
    const finishReason = encodeFinishReason(reason, this.#callCount > 0, this.#shape.isLegacy)
    return [...completed, { index: this.#index, delta: {}, logprobs: null, finish_reason: finishReason }]
  }

  #choice(delta: Delta, logprobs?: readonly TokenLogprob[]): Json {
    const encoded = logprobs === undefined ? null : encodeLogprobs(logprobs)
    return { index: this.#index, delta, logprobs: encoded, finish_reason: null }
  }
}
