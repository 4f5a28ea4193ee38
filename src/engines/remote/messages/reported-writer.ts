import { createStopMatcher } from '../../../chat-format/stop-matcher.ts'
import { createThinkingSplitter } from '../../../chat-format/thinking-splitter.ts'
import type { EngineRequest, FinishReason, GenerationEvent, Usage } from '../../../core/generation.ts'
import { randomId } from '../../../lib/random-id.ts'
import { BlockWriter } from '../../text/answer/block-writer.ts'
import type { MessageStep } from './message-dialect.ts'

/** Where servers do not part thinking from the answer by themselves. */
const thinkingTags = { open: '<think>', close: '</think>' }

type Piece = Exclude<MessageStep, { kind: 'end' }>

/**
 * Writes the events of an answer whose server sends text.
 *
 * A piece counts as a token until the server has said how many there were: there is hardly ever one in which there are none.
 */
export class ReportedWriter {
  readonly #request: EngineRequest
  readonly #emit: (event: GenerationEvent) => void
  readonly #blocks: BlockWriter
  #splitter = createThinkingSplitter(thinkingTags, false)
  #stops
  #isShown = true
  #holdsText = false
  #held = ''
  #pieces = 0
  #shown = 0
  #thinkingPieces = 0
  #hasWritten = false

  constructor(request: EngineRequest, emit: (event: GenerationEvent) => void) {
    this.#request = request
    this.#emit = emit
    const written = (event: GenerationEvent) => {
      this.#hasWritten = true
      emit(event)
    }
    this.#blocks = new BlockWriter(written, { hasLogprobs: false, trimsStart: true })
    this.#stops = createStopMatcher(request.stopSequences, request.includesStopSequence)
  }

  /** All pieces that have come. */
  get pieces(): number {
    return this.#pieces
  }

  /** Whether the client has seen anything of an answer. */
  get hasWritten(): boolean {
    return this.#hasWritten
  }

  /** The pieces of answers that the client has seen something of. */
  get shown(): number {
    return this.#shown
  }

  get thinkingPieces(): number {
    return this.#thinkingPieces
  }

  start(usage: Usage): void {
    this.#emit({ type: 'start', usage })
  }

  /** Begins to read an answer. */
  begin({ isShown, holdsText }: { readonly isShown: boolean; readonly holdsText: boolean }): void {
    this.#isShown = isShown
    this.#holdsText = holdsText
    // Of an answer that was lost before anything was seen of it nothing counts.
    if (!this.#hasWritten) this.#shown = this.#thinkingPieces = 0
    this.#held = ''
    this.#splitter = createThinkingSplitter(thinkingTags, false)
    this.#stops = createStopMatcher(this.#request.stopSequences, this.#request.includesStopSequence)
  }

  /** Takes a piece. Returns the stop sequence that it completes. */
  take(step: Piece): string | null {
    this.#pieces += 1
    if (this.#isShown) {
      this.#shown += 1
      this.#blocks.countToken()
    }
    if (step.kind === 'call' || this.#request.outputTokensMax === 0) return null
    if (step.kind === 'thinking') {
      this.#think(step.text)
      return null
    }
    for (const part of this.#splitter.feed(step.text)) {
      if (part.kind === 'thinking') this.#think(part.text)
      else {
        const sequence = this.#text(part.text)
        if (sequence !== null) return sequence
      }
    }
    return null
  }

  /** The text that was kept, all of it once nothing more comes. */
  held(): string {
    for (const { kind, text } of this.#splitter.close()) if (kind === 'text') this.#text(text)
    const rest = this.#stops.flush()
    if (this.#holdsText) this.#held += rest
    else this.#write(rest)
    return this.#held
  }

  /** Hands on text that was kept. */
  show(text: string): void {
    if (this.#holdsText) this.#write(text)
  }

  call(name: string, text: string): void {
    this.#blocks.openCall(`call_${randomId()}`, name)
    this.#blocks.writeArguments(text)
    this.#blocks.close()
  }

  finish(reason: FinishReason, usage: Usage): void {
    this.#blocks.close()
    this.#emit({ type: 'finish', reason, usage })
  }

  #think(text: string): void {
    this.#thinkingPieces += 1
    if (this.#isShown && this.#request.thinking.kind === 'on')
      this.#blocks.writeThinking(this.#blocks.trimStart('thinking', text))
  }

  #text(text: string): string | null {
    const match = this.#stops.feed(text)
    if (this.#holdsText) this.#held += match.text
    else this.#write(match.text)
    return match.matched
  }

  #write(text: string): void {
    if (this.#request.outputTokensMax === 0) return
    if (this.#blocks.openKind === 'thinking') this.#blocks.close()
    this.#blocks.writeText(this.#blocks.trimStart('text', text))
  }
}
