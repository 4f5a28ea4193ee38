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
import {
  answerHead,
  createBlockGate,
  type AnswerShape,
  encodeFinishReason,
  isCut,
  encodeLogprobs,
  encodeUsage,
} from './encode-answer.ts'

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
  return encodeEach(events, new ChunkEncoder(meta, shape))
}

/** The state of one of the answers, which the format calls choices. */
type Choice = {
  readonly index: number
  readonly passes: (kind: BlockStart['kind']) => boolean
  /** The block that deltas belong to; null also while a block is not sent. */
  open: BlockStart | null
  callCount: number
  /** True while the latest call has no arguments: `{}` is sent once it is known to be complete. */
  lacksArguments: boolean
  hasFinished: boolean
}

class ChunkEncoder implements EventEncoder {
  readonly #shape: AnswerShape
  /** All chunks begin with the same fields, which are therefore made into text only once. */
  readonly #head: string
  readonly #usages: Usage[] = []
  #current: Choice

  constructor(meta: AnswerMeta, shape: AnswerShape) {
    this.#shape = shape
    const head = { ...answerHead(meta, 'chat.completion.chunk'), system_fingerprint: shape.systemFingerprint }
    this.#head = JSON.stringify(head).slice(0, -1)
    this.#current = this.#begin()
  }

  encode(event: GenerationEvent): SseMessage[] {
    switch (event.type) {
      case 'start':
        this.#current = this.#begin()
        return [this.#choice({ role: 'assistant', content: '', refusal: null })]
      case 'block-start':
        return this.#openBlock(event.block)
      case 'delta':
        return this.#encodeDelta(event.text, event.logprobs)
      case 'block-end':
        this.#current.open = null
        return []
      case 'finish':
        this.#usages.push(event.usage)
        return this.#finish(event.reason)
    }
  }

  end(): SseMessage[] {
    if (!this.#current.hasFinished) throw new Error('The stream ended without a finish event.')
    const done = { data: '[DONE]' }
    if (!this.#shape.includesUsage) return [done]
    const usage = encodeUsage(this.#usages.reduce(addAnswer, zeroUsage))
    return [this.#frame({ choices: [], usage }), done]
  }

  /** Answers follow one another, so as many have ended as have told their usage. */
  #begin(): Choice {
    const index = this.#usages.length
    const passes = createBlockGate(this.#shape)
    return { index, passes, open: null, callCount: 0, lacksArguments: false, hasFinished: false }
  }

  #openBlock(block: BlockStart): SseMessage[] {
    const completed = this.#completeCall()
    this.#current.open = this.#current.passes(block.kind) ? block : null
    if (this.#current.open?.kind !== 'tool-call') return completed
    this.#current.callCount += 1
    this.#current.lacksArguments = !this.#shape.textTools.has(this.#current.open.name)
    return [...completed, this.#choice(this.#startCall(this.#current.open))]
  }

  #completeCall(): SseMessage[] {
    if (!this.#current.lacksArguments) return []
    this.#current.lacksArguments = false
    return [this.#choice(this.#continueCall('{}', false))]
  }

  #encodeDelta(text: string, logprobs: readonly TokenLogprob[] | undefined): SseMessage[] {
    const block = this.#current.open
    if (block === null || (text === '' && (block.kind !== 'text' || logprobs === undefined))) return []
    switch (block.kind) {
      case 'thinking':
        return [this.#choice({ reasoning_content: text, reasoning: text })]
      case 'text':
        return [this.#choice({ content: text }, logprobs)]
      case 'tool-call':
        this.#current.lacksArguments = false
        return [this.#choice(this.#continueCall(text, this.#shape.textTools.has(block.name)))]
    }
  }

  #startCall({ id, name }: Extract<BlockStart, { kind: 'tool-call' }>): Delta {
    const index = this.#current.callCount - 1
    if (this.#shape.isLegacy) return { function_call: { name, arguments: '' } }
    if (this.#shape.textTools.has(name)) {
      return { tool_calls: [{ index, id, type: 'custom', custom: { name, input: '' } }] }
    }
    return { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }
  }

  /** Nothing but the text: clients take a repeated name or type, even null, for another call. */
  #continueCall(text: string, isCustom: boolean): Delta {
    const index = this.#current.callCount - 1
    if (this.#shape.isLegacy) return { function_call: { arguments: text } }
    if (isCustom) return { tool_calls: [{ index, custom: { input: text } }] }
    return { tool_calls: [{ index, function: { arguments: text } }] }
  }

  #finish(reason: FinishReason): SseMessage[] {
    const current = this.#current
    current.hasFinished = true
    const completed = isCut(reason) ? [] : this.#completeCall()
    const finishReason = encodeFinishReason(reason, current.callCount > 0, this.#shape.isLegacy)
    return [...completed, this.#choice({}, undefined, finishReason)]
  }

  #choice(delta: Delta, logprobs?: readonly TokenLogprob[], finishReason: string | null = null): SseMessage {
    const encoded = logprobs === undefined ? null : encodeLogprobs(logprobs)
    const choice = { index: this.#current.index, delta, logprobs: encoded, finish_reason: finishReason }
    return this.#frame(this.#shape.includesUsage ? { choices: [choice], usage: null } : { choices: [choice] })
  }

  #frame(rest: Delta): SseMessage {
    return { data: `${this.#head},${JSON.stringify(rest).slice(1)}` }
  }
}
