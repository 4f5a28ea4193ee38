// One answer as a course of legs. A leg is one request to one replica, which goes on from the tokens so far; what the
// embedded engine does between two tokens is done here between two legs:
//
//     thinking ──→ (its budget is used up: closed for the model) ──→ answer
//        └──────→ (a grammar for the whole answer comes into force) ──→ answer
//     answer   ──→ (the marker of a call: back to where it began, and on under the calls' grammar)
//     answer   ──→ (its least length is reached: it may end from now on)
//     any      ──→ (its replica is lost) ──→ the same, elsewhere
//
// Each costs one round trip, since the next leg finds its beginning computed.

import { contextExceeded } from '../../core/error.ts'
import type { EngineRequest, FinishReason, GenerationEvent, Usage } from '../../core/generation.ts'
import { createAnswerParser } from '../text/answer/answer-parser.ts'
import { AnswerWriter } from '../text/answer/answer-writer.ts'
import { reservedTokens } from '../text/answer/reserved-tokens.ts'
import type { ModelText, TableReader } from '../text/model-text.ts'
import type { PreparedText } from '../text/prepared-text.ts'
import { describeLogprob, ReplicaFault, type TokenIdLogprob, type TokenRequest, type TokenStep } from './dialect.ts'
import { TriggerWatch, type Begun } from './trigger-watch.ts'
import { WrittenAnew } from './written-anew.ts'

export type Leg = Pick<
  TokenRequest,
  'tokens' | 'grammar' | 'outputTokensMax' | 'bannedTokens' | 'endTokens' | 'sampling' | 'logprobsTop'
>

export type CourseParts = {
  readonly request: EngineRequest
  readonly text: PreparedText
  readonly model: ModelText
  readonly reader: TableReader
  readonly windowTokens: number
  readonly outputTokensMax: number
  /** A seed for requests that bring none. */
  readonly seed: number
  emit(event: GenerationEvent): void
}

/**
 * What becomes of an answer after some of its tokens: it goes on, needs another leg, or ends. Where the engine ends there as
 * well, its own last record has yet to say so.
 */
export type Turn =
  | { readonly kind: 'goes-on' | 'next-leg' }
  | { readonly kind: 'ends'; readonly reason: FinishReason; readonly isEnginesEnd: boolean }

export const goesOn: Turn = { kind: 'goes-on' }
const nextLeg: Turn = { kind: 'next-leg' }

export class AnswerCourse {
  readonly #parts: CourseParts
  readonly #writer: AnswerWriter
  readonly #triggers: TriggerWatch
  /** The tokens of the answer as the model has them, what was put in for it included. */
  readonly #ids: number[] = []
  #outputTokensMax: number
  #limitKind: 'length' | 'window'
  readonly #thinkingTokensMax: number | null
  #grammar: string | null = null
  #legs = 0
  /** The most tokens that the present leg can bring, and those it has brought. */
  #legMax = 0
  #legTokens = 0
  /** Whether a leg before the present one has brought a token: its prompt is held by then, whatever it was when it began. */
  #isContinued = false
  /** The answer's tokens before the present leg. */
  #legStart = 0
  readonly #anew = new WrittenAnew()
  #isStarted = false
  #cachedTokens = 0
  /** What the answer ends for by its last token, once it has come. */
  #reason: FinishReason | null = null

  constructor(parts: CourseParts) {
    const { request, text, model, reader, windowTokens, outputTokensMax } = parts
    this.#parts = parts
    const inputTokens = text.prompt.tokens.length
    if (inputTokens >= windowTokens) throw contextExceeded(inputTokens, windowTokens)
    this.#thinkingTokensMax = text.prompt.thinks && request.thinking.kind === 'on' ? request.thinking.tokensMax : null
    const room = windowTokens - inputTokens - reservedTokens(request, text, model)
    this.#outputTokensMax = Math.max(0, Math.min(request.outputTokensMax, outputTokensMax, room))
    this.#limitKind = Math.min(request.outputTokensMax, outputTokensMax) <= room ? 'length' : 'window'
    this.#triggers = new TriggerWatch(text.plan, reader)
    this.#writer = new AnswerWriter({
      request,
      prompt: text.prompt,
      tags: model.tags,
      toolCalls: createAnswerParser(request, text.plan, model.toolFormat),
      dropsRemainder: text.plan.forced !== null,
      isCallsOnly: text.plan.isCallsOnly,
      vocabulary: reader,
      emit: parts.emit,
    })
    if (this.#writer.isAnswering) this.#grammar = text.plan.forced
  }

  get outputTokens(): number {
    return this.#writer.outputTokens
  }

  /** Whether the client has had any of it. */
  get hasStarted(): boolean {
    return this.#isStarted
  }

  /** Whether it has all the tokens that it may have. */
  get isFull(): boolean {
    return this.#writer.outputTokens >= this.#outputTokensMax
  }

  usage(): Usage {
    return this.#writer.usage()
  }

  /** Lowers the most tokens of the answer. */
  limit(outputTokensMax: number): void {
    if (outputTokensMax >= this.#outputTokensMax) return
    this.#outputTokensMax = outputTokensMax
    this.#limitKind = 'length'
  }

  get isUnderGrammar(): boolean {
    return this.#grammar !== null
  }

  /**
   * The present leg was lost. A free answer goes on from its last token, one under a grammar is written anew from where that
   * began. Whichever goes on makes its end anew.
   */
  rewind(): void {
    if (this.#reason?.kind === 'end') {
      this.#reason = null
      this.#ids.pop()
      this.#writer.takeBackEnd()
    }
    if (this.#grammar === null) return
    this.#ids.length = this.#legStart
    this.#anew.rewind()
  }

  /** What the next replica is asked for. */
  leg(): Leg {
    const { request, text, reader, seed, windowTokens } = this.#parts
    const tokens = new Uint32Array(text.prompt.tokens.length + this.#ids.length)
    tokens.set(text.prompt.tokens)
    tokens.set(this.#ids, text.prompt.tokens.length)
    const mustGoOn = this.#mustGoOn()
    const left = this.#outputTokensMax - this.#writer.outputTokens
    const untilMin = request.outputTokensMin - this.#writer.outputTokens
    const { sampling } = request
    // Each leg draws otherwise: with one seed for all, a leg would begin like the one before it.
    const legSeed = ((sampling.seed ?? seed) + this.#legs) % 2 ** 32
    this.#legs += 1
    this.#isContinued ||= this.#legTokens > 0
    this.#legTokens = 0
    this.#anew.beginLeg()
    this.#legStart = this.#ids.length
    // A prompt alone is computed with a token, because some engines take no limit of zero.
    const wanted = mustGoOn && untilMin > 0 && !this.#isHeldByForced() ? Math.min(left, untilMin) : left
    // What is written once more counts for nothing, and no token of it has less than a byte.
    this.#legMax = Math.max(1, Math.min(wanted + this.#anew.bytesLeft, windowTokens - tokens.length))
    return {
      tokens,
      grammar: this.#grammar,
      outputTokensMax: this.#legMax,
      bannedTokens: mustGoOn ? [...this.#bannedTokens(), ...reader.endTokens] : this.#bannedTokens(),
      endTokens: reader.endTokens,
      sampling: { ...sampling, seed: legSeed, logitBias: sampling.logitBias.filter(([token]) => token < reader.size) },
      logprobsTop: request.logprobsTop,
    }
  }

  /**
   * A text is kept out of the answer where it is a token of its own; any other is only words.
   *
   * A model that may begin no call tends to begin thoughts instead, which are no text either once thinking has begun or is
   * over. Without a ban on calls that is too rare for a bias, which some engines refuse while they guess tokens ahead.
   */
  #bannedTokens(): number[] {
    const { text, reader, model } = this.#parts
    const { banned } = text.plan
    const hasBegun = this.#writer.isThinking || this.#writer.isAnswering
    const opening = banned.length > 0 && hasBegun && model.tags !== null ? [model.tags.open] : []
    return [...banned, ...opening].flatMap((one) => reader.tokenOfText(one) ?? [])
  }

  /** Tells the client of the prompt, with what is known of how much of it was there already. Only the first call does. */
  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    const reusedTokens = this.#cachedTokens
    this.#writer.start({ source: reusedTokens > 0 ? 'memory' : 'none', reusedTokens, differs: null })
  }

  /** Whether the present leg is the answer's first: a later one finds what was computed for it before. */
  get isFirstLeg(): boolean {
    return !this.#isContinued
  }

  /** Notes how much of the prompt its first leg found. */
  countCached(cachedTokens: number): void {
    this.#cachedTokens = cachedTokens
    this.#writer.countCached(cachedTokens, this.#parts.text.prompt.breakpoints)
  }

  /** Takes one token of the present leg. */
  take(id: number, logprob: TokenIdLogprob | null): Turn {
    this.#legTokens += 1
    if (this.isFull) return this.#ends(this.#reason ?? { kind: this.#limitKind })
    const wasAnswering = this.#writer.isAnswering
    if (wasAnswering && this.#triggers.isWatching && !this.#parts.reader.endsGeneration(id)) {
      const begun = this.#triggers.feed(id, this.#ids.length)
      if (begun !== null) return this.#beginCalls(begun)
    }
    this.#ids.push(id)
    const reason = this.#accept(id, logprob)
    if (reason !== null) return this.#ends(reason)
    if (this.isFull) return this.#ends({ kind: this.#limitKind })
    if (this.#isThinkingOver()) return this.#closeThinking()
    if (!wasAnswering && this.#writer.isAnswering && this.#beginForced()) return nextLeg
    return goesOn
  }

  /** The present leg has ended by itself. */
  legEnded(end: NonNullable<TokenStep['end']>): Turn {
    if (!this.isFull) this.#countUnknown(end.unknownTokens ?? 0)
    if (this.isFull) return this.#ends(this.#reason ?? { kind: this.#limitKind })
    if (end.kind === 'stop') {
      if (this.#anew.bytesLeft > 0) throw new ReplicaFault('unfit', 'It ended before what it had written before.')
      return this.#ends({ kind: 'end' })
    }
    if (this.#legTokens < this.#legMax)
      throw new ReplicaFault('lied', `It ended for a limit of ${this.#legMax} tokens and sent ${this.#legTokens}.`)
    if (this.#fillsWindow) return this.#ends({ kind: 'window' })
    // A further leg would begin the grammar anew in the midst of the answer.
    if (this.#grammar !== null) throw new ReplicaFault('unfit', 'Its limit was reached before the answer was whole.')
    return nextLeg
  }

  /**
   * Whether the present leg ends where the window does. It may do so before the answer is full, because what is written once
   * more may take more tokens than it did before.
   */
  get #fillsWindow(): boolean {
    const { text, windowTokens } = this.#parts
    return text.prompt.tokens.length + this.#legStart + this.#legMax >= windowTokens
  }

  /** Tokens count also where their bytes came with others, or belong to a character that the limit cut off. */
  #countUnknown(tokens: number): void {
    this.#legTokens += tokens
    this.#writer.countUnknown(Math.min(tokens, this.#outputTokensMax - this.#writer.outputTokens))
  }

  /** Writes the end of the answer. */
  finish(reason: FinishReason): void {
    this.#writer.finish(reason)
  }

  #accept(id: number, logprob: TokenIdLogprob | null): FinishReason | null {
    const { reader } = this.#parts
    const described = logprob === null ? null : describeLogprob(id, logprob, reader)
    const bytes = () => Buffer.from(reader.bytesOf(id))
    if (this.#grammar !== null) this.#anew.note(bytes())
    if (this.#anew.bytesLeft === 0) return this.#writer.accept(id, described, null)
    const rest = this.#anew.skip(bytes())
    return rest.length === 0 ? null : this.#writer.accept(id, described, rest)
  }

  /** Takes the answer back to where the marker of a call began, from where the grammar of calls goes on. */
  #beginCalls({ at, grammar, written }: Begun): Turn {
    this.#ids.length = at
    this.#grammar = grammar
    this.#anew.expect(written)
    return nextLeg
  }

  #isThinkingOver(): boolean {
    return (
      this.#thinkingTokensMax !== null &&
      this.#writer.isThinking &&
      this.#writer.thinkingTokens >= this.#thinkingTokensMax
    )
  }

  #closeThinking(): Turn {
    this.#ids.push(...this.#parts.model.closeThinkingTokens)
    this.#writer.closeThinking()
    this.#grammar = this.#parts.text.plan.forced
    return nextLeg
  }

  /** Thinking is over: a grammar for the whole answer comes into force, behind the blank line that models are used to. */
  #beginForced(): boolean {
    const { forced } = this.#parts.text.plan
    if (forced === null) return false
    this.#grammar = forced
    this.#ids.push(...this.#parts.model.gapTokens)
    return true
  }

  /** A grammar says itself where the end may be; a model that ended in its thoughts would leave the answer out. */
  #mustGoOn(): boolean {
    if (this.#grammar !== null) return false
    return this.#isHeldByForced() || this.#writer.outputTokens < this.#parts.request.outputTokensMin
  }

  #isHeldByForced(): boolean {
    return this.#parts.text.plan.forced !== null && this.#grammar === null
  }

  #ends(reason: FinishReason): Turn {
    this.#reason = reason
    const isEnginesEnd = reason.kind === 'end' || this.#legTokens === this.#legMax
    return { kind: 'ends', reason, isEnginesEnd }
  }
}
