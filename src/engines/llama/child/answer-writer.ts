import type { BlockStart, EngineRequest, FinishReason, GenerationEvent, Usage } from '../../../core/generation.ts'
import type { ThinkingTags } from '../../../prompts/probe-template.ts'
import { createStopMatcher } from '../../../prompts/stop-matcher.ts'
import { createThinkingSplitter, type SplitText } from '../../../prompts/thinking-splitter.ts'
import type { Prompt } from './prompt-builder.ts'
import type { Vocabulary } from './vocabulary.ts'

export type AnswerWriterOptions = {
  readonly request: EngineRequest
  readonly prompt: Prompt
  readonly tags: ThinkingTags | null
  readonly vocabulary: Vocabulary
  emit(event: GenerationEvent): unknown
}

/** Turns sampled tokens into the events of one answer: bytes, characters, thinking, stop sequences, blocks. */
export class AnswerWriter {
  readonly #options: AnswerWriterOptions
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  readonly #splitter
  readonly #stops
  #openKind: BlockStart['kind'] | null = null
  #isAtBlockStart = true
  #output = 0
  #outputThinking = 0
  /** Tokens whose text has not been shown yet; the next delta carries them. */
  #unshownTokens = 0

  constructor(options: AnswerWriterOptions) {
    const { request, prompt, tags } = options
    this.#options = options
    this.#splitter = createThinkingSplitter(prompt.thinks ? tags : null, prompt.startsThinking)
    this.#stops = createStopMatcher(request.stopSequences, request.includesStopSequence)
  }

  get isThinking(): boolean {
    return this.#splitter.isThinking()
  }

  usage(): Usage {
    return {
      inputUncached: this.#options.prompt.tokens.length,
      inputCacheRead: 0,
      inputCacheWrite: 0,
      output: this.#output,
      outputThinking: this.#outputThinking,
    }
  }

  start(): void {
    this.#options.emit({ type: 'start', usage: this.usage() })
  }

  /** Takes the next sampled token. Returns why the answer ends, or null while it goes on. */
  accept(token: number): FinishReason | null {
    const { vocabulary } = this.#options
    this.#output += 1
    this.#unshownTokens += 1
    if (this.isThinking) this.#outputThinking += 1
    if (vocabulary.endsGeneration(token)) return { kind: 'end' }
    const text = this.#decoder.decode(vocabulary.bytesOf(token), { stream: true })
    for (const part of this.#splitter.feed(text)) {
      const matched = this.#show(part)
      if (matched !== null) return { kind: 'stop-sequence', sequence: matched }
    }
    return null
  }

  /** The engine closed the thinking block itself; what follows is the answer. */
  closeThinking(): void {
    for (const part of this.#splitter.close()) this.#show(part)
    this.#closeBlock()
  }

  /** Ends the answer. Half a character that a limit cut off is not shown: it would be a replacement mark. */
  finish(reason: FinishReason): void {
    if (reason.kind !== 'stop-sequence') {
      for (const part of this.#splitter.close()) this.#show(part)
      const held = this.#stops.flush()
      if (held !== '') this.#write('text', held)
    }
    this.#closeBlock()
    this.#options.emit({ type: 'finish', reason, usage: this.usage() })
  }

  /** Shows a piece; returns the stop sequence that it completed. Stop sequences do not count in thinking. */
  #show({ kind, text }: SplitText): string | null {
    const shown = this.#isAtBlockStart && this.#options.prompt.thinks ? text.trimStart() : text
    if (shown === '' && kind === 'thinking') return null
    if (kind === 'thinking') {
      this.#write(kind, shown)
      return null
    }
    if (this.#openKind === 'thinking') {
      this.#closeBlock()
      return this.#show({ kind, text })
    }
    const match = this.#stops.feed(shown)
    this.#write('text', match.text)
    return match.matched
  }

  #write(kind: 'thinking' | 'text', text: string): void {
    if (text === '') return
    const { emit } = this.#options
    if (this.#openKind === null) emit({ type: 'block-start', block: { kind } })
    this.#openKind = kind
    this.#isAtBlockStart = false
    emit({ type: 'delta', text, tokens: this.#unshownTokens })
    this.#unshownTokens = 0
  }

  #closeBlock(): void {
    if (this.#openKind !== null) this.#options.emit({ type: 'block-end' })
    this.#openKind = null
    this.#isAtBlockStart = true
  }
}
