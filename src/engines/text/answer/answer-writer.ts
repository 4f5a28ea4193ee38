import type {
  CacheReport,
  EngineRequest,
  FinishReason,
  GenerationEvent,
  TokenLogprob,
  Usage,
} from '../../../core/generation.ts'
import { randomId } from '../../../lib/random-id.ts'
import type { ThinkingTags } from '../../../chat-format/probe-template.ts'
import { createStopMatcher } from '../../../chat-format/stop-matcher.ts'
import { createThinkingSplitter, type SplitText } from '../../../chat-format/thinking-splitter.ts'
import type { ToolCallParser } from '../../../chat-format/tool-format/parse-tool-calls.ts'
import type { ToolCallPart } from '../../../chat-format/tool-format/parsing/tool-call-part.ts'
import { BlockWriter } from './block-writer.ts'
import type { Breakpoint, Prompt } from '../prepared-text.ts'
import { TokenTextDecoder } from './token-text.ts'
import type { Vocabulary } from '../vocabulary.ts'

/** A prompt that is kept for this long is priced as kept for an hour. */
const longLifetimeMs = 60 * 60_000

export type AnswerWriterOptions = {
  readonly request: EngineRequest
  readonly prompt: Pick<Prompt, 'tokens' | 'thinks' | 'startsThinking'>
  readonly tags: ThinkingTags | null
  /** Null where the model may call nothing: markup is then text like any other. */
  readonly toolCalls: ToolCallParser | null
  /** Leaves out the text behind the end of thinking in the same token, because a grammar begins after it. */
  readonly dropsRemainder: boolean
  /** The answer is calls and nothing else: markup that was cut off is no text. */
  readonly isCallsOnly: boolean
  readonly vocabulary: Pick<Vocabulary, 'bytesOf' | 'endsGeneration'>
  emit(event: GenerationEvent): unknown
}

/**
 * Turns sampled tokens into the events of one answer.
 *
 *     bytes → characters → thinking │ tool calls │ text → stop sequences → blocks
 */
export class AnswerWriter {
  readonly #options: AnswerWriterOptions
  readonly #decoder = new TokenTextDecoder()
  readonly #splitter
  readonly #stops
  readonly #blocks: BlockWriter
  #inputCacheRead = 0
  #inputCacheWrite = 0
  #inputCacheWriteLong = 0
  #output = 0
  #outputThinking = 0
  #calls = 0
  #isInCall = false
  /** The arguments of a call whose tool takes free text, which the model writes as an object of one text. */
  #wrapped: string | null = null

  constructor(options: AnswerWriterOptions) {
    const { request, prompt, tags, emit } = options
    this.#options = options
    this.#splitter = createThinkingSplitter(prompt.thinks ? tags : null, prompt.startsThinking)
    this.#stops = createStopMatcher(request.stopSequences, request.includesStopSequence)
    this.#blocks = new BlockWriter(emit, { hasLogprobs: request.logprobsTop !== null, trimsStart: prompt.thinks })
  }

  get isThinking(): boolean {
    return this.#splitter.isThinking()
  }

  /** The answer proper has begun: thinking is over, or there is none. */
  get isAnswering(): boolean {
    return this.#splitter.isAnswering()
  }

  get outputTokens(): number {
    return this.#output
  }

  get thinkingTokens(): number {
    return this.#outputThinking
  }

  /** Notes how much of the prompt was there already, and how much of the rest the client asked to keep. */
  countCached(read: number, breakpoints: readonly Breakpoint[]): void {
    this.#inputCacheRead = read
    this.#inputCacheWrite = Math.max(0, furthest(breakpoints) - read)
    this.#inputCacheWriteLong = longPart(read, breakpoints)
  }

  usage(): Usage {
    return {
      inputUncached: this.#options.prompt.tokens.length - this.#inputCacheRead - this.#inputCacheWrite,
      inputCacheRead: this.#inputCacheRead,
      inputCacheWrite: this.#inputCacheWrite,
      inputCacheWriteLong: this.#inputCacheWriteLong,
      output: this.#output,
      outputThinking: this.#outputThinking,
    }
  }

  start(cache?: CacheReport): void {
    this.#options.emit({ type: 'start', usage: this.usage(), ...(cache !== undefined && { cache }) })
  }

  /**
   * Takes the next sampled token, which may stand for other bytes than its own. Returns why the answer ends, or null while it
   * goes on.
   */
  accept(token: number, logprob: TokenLogprob | null, bytesInstead: Uint8Array | null): FinishReason | null {
    const { vocabulary, dropsRemainder } = this.#options
    this.#output += 1
    this.#blocks.countToken()
    if (this.isThinking) this.#outputThinking += 1
    if (vocabulary.endsGeneration(token)) return { kind: 'end' }
    const wasAnswering = this.isAnswering
    // The decoder has exactly the bytes that are shown: a character may begin in one token and end in another.
    const bytes = bytesInstead ?? vocabulary.bytesOf(token)
    const shown = logprob === null || bytesInstead === null ? logprob : { ...logprob, bytes }
    const { text, tokens } = this.#decoder.decode(bytes, shown)
    const found = this.#splitter.feed(text)
    const parts = dropsRemainder && !wasAnswering ? found.filter(({ kind }) => kind === 'thinking') : found
    this.#blocks.addTokens(wasAnswering || logprob === null ? tokens : visibleToken(parts, logprob))
    return this.#showAll(parts)
  }

  /** So many tokens were sampled besides, whose text came with that of others or is none. */
  countUnknown(tokens: number): void {
    this.#output += tokens
    if (this.isThinking) this.#outputThinking += tokens
    for (let counted = 0; counted < tokens; counted++) this.#blocks.countToken()
  }

  /** The token that ended the answer was lost with its replica, and is going to be sampled anew. */
  takeBackEnd(): void {
    this.#output -= 1
    this.#blocks.takeBackToken()
    if (this.isThinking) this.#outputThinking -= 1
  }

  /** The engine closed the thinking block itself; what follows is the answer. */
  closeThinking(): void {
    this.#decoder.reset()
    this.#showAll(this.#splitter.close())
    this.#blocks.close()
  }

  /** Ends the answer. Half a character that a limit cut off is not shown: it would be a replacement mark. */
  finish(reason: FinishReason): void {
    if (reason.kind !== 'stop-sequence') {
      this.#showAll(this.#splitter.close())
      for (const part of this.#options.toolCalls?.end() ?? []) {
        if (part.kind !== 'text' || !this.#options.isCallsOnly) this.#showPart(part)
      }
      this.#blocks.writeText(this.#stops.flush())
      if (this.#isInCall && this.#wrapped !== null) this.#blocks.writeArguments(unwrapCutInput(this.#wrapped))
    }
    this.#blocks.close()
    this.#options.emit({ type: 'finish', reason: this.#finalReason(reason), usage: this.usage() })
  }

  /** A call that was cut off is no call to act upon. */
  #finalReason(reason: FinishReason): FinishReason {
    if (reason.kind !== 'end' || this.#calls === 0) return reason
    return { kind: this.#isInCall ? 'length' : 'tool-calls' }
  }

  #showAll(parts: readonly SplitText[]): FinishReason | null {
    for (const part of parts) {
      const sequence = this.#show(part)
      if (sequence !== null) return { kind: 'stop-sequence', sequence }
    }
    return null
  }

  /** Shows a piece; returns the stop sequence that it completed. */
  #show({ kind, text }: SplitText): string | null {
    if (kind === 'thinking') {
      this.#blocks.writeThinking(this.#blocks.trimStart(kind, text))
      return null
    }
    if (this.#blocks.openKind === 'thinking') this.#blocks.close()
    const { toolCalls } = this.#options
    if (toolCalls === null) return this.#showText(text)
    for (const part of toolCalls.feed(text)) {
      const sequence = this.#showPart(part)
      if (sequence !== null) return sequence
    }
    return null
  }

  /** Stop sequences count in the text alone, neither in thinking nor in a call. */
  #showPart(part: ToolCallPart): string | null {
    switch (part.kind) {
      case 'text':
        // Text between and behind calls is white space of the markup.
        return this.#calls > 0 ? null : this.#showText(part.text)
      case 'stray':
        this.#blocks.skip(part.text)
        return null
      case 'thinking':
        this.#blocks.writeThinking(part.text)
        return null
      case 'call-start':
        this.#blocks.writeText(this.#stops.flush())
        this.#blocks.openCall(`call_${randomId()}`, part.name)
        this.#calls += 1
        this.#isInCall = true
        this.#wrapped = this.#takesText(part.name) ? '' : null
        return null
      case 'arguments':
        if (this.#wrapped === null) this.#blocks.writeArguments(part.text)
        else this.#wrapped += part.text
        return null
      case 'call-end':
        if (this.#wrapped !== null) this.#blocks.writeArguments(unwrapInput(this.#wrapped))
        this.#blocks.close()
        this.#isInCall = false
        return null
    }
  }

  #takesText(name: string): boolean {
    return this.#options.request.tools.some((tool) => tool.name === name && tool.input === 'text')
  }

  #showText(text: string): string | null {
    const match = this.#stops.feed(this.#blocks.trimStart('text', text))
    this.#blocks.writeText(match.text)
    return match.matched
  }
}

function furthest(breakpoints: readonly Breakpoint[]): number {
  return Math.max(0, ...breakpoints.map(({ length }) => length))
}

/**
 * The tokens, behind those that were read, which are kept for an hour: each mark counts from the one before it. A
 * template may put what the client marked for an hour behind what it marked for less.
 */
function longPart(read: number, breakpoints: readonly Breakpoint[]): number {
  let from = read
  let long = 0
  for (const { length, lifetimeMs } of breakpoints.toSorted(inPromptOrder)) {
    const part = Math.max(0, length - from)
    if (lifetimeMs >= longLifetimeMs) long += part
    from += part
  }
  return long
}

/** Sorts marks by their place in the prompt. Where two are on one token the one that is kept longer comes first and counts. */
function inPromptOrder(a: Breakpoint, b: Breakpoint): number {
  return a.length - b.length || b.lifetimeMs - a.lifetimeMs
}

function unwrapInput(text: string): string {
  const { input } = JSON.parse(text) as { input?: unknown }
  return typeof input === 'string' ? input : ''
}

/** What there is of the text where a limit cut off the object around it; half an escape or half a pair stands for nothing. */
function unwrapCutInput(text: string): string {
  const start = /^\s*\{\s*"input"\s*:\s*"/u.exec(text)?.[0].length ?? text.length
  let end = start
  while (end < text.length && text[end] !== '"') {
    const length = text[end] !== '\\' ? 1 : text[end + 1] === 'u' ? 6 : 2
    if (end + length > text.length) break
    end += length
  }
  const input = JSON.parse(`"${text.slice(start, end)}"`) as string
  return input.isWellFormed() ? input : input.replace(/[\ud800-\udbff]$/, '')
}

/** The token that ends the thinking, cut to the text behind the marker. */
function visibleToken(parts: readonly SplitText[], logprob: TokenLogprob): TokenLogprob[] {
  const text = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('')
  return text === '' ? [] : [{ ...logprob, bytes: Buffer.from(text) }]
}
