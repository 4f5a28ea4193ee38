import type { BlockStart, GenerationEvent, TokenLogprob } from '../../../core/generation.ts'
import { LogprobAligner, type AlignedText } from './token-text.ts'

/** Writes the blocks of an answer: opens one with its first text, closes it before the next. */
export class BlockWriter {
  readonly #emit: (event: GenerationEvent) => unknown
  readonly #aligner: LogprobAligner | null
  /** White space that a template puts around thinking is not part of what follows it. */
  readonly #trimsStart: boolean
  #open: BlockStart['kind'] | null = null
  /** Some of the block's text is known, though it may still be on its way out. */
  #hasBegun = false
  /** Tokens whose text has not been shown yet; the next delta carries them. */
  #unshownTokens = 0

  constructor(
    emit: (event: GenerationEvent) => unknown,
    { hasLogprobs, trimsStart }: { readonly hasLogprobs: boolean; readonly trimsStart: boolean },
  ) {
    this.#emit = emit
    this.#trimsStart = trimsStart
    this.#aligner = hasLogprobs ? new LogprobAligner() : null
  }

  get openKind(): BlockStart['kind'] | null {
    return this.#open
  }

  countToken(): void {
    this.#unshownTokens += 1
  }

  /** The last token that was counted, of which nothing was shown, was none. */
  takeBackToken(): void {
    this.#unshownTokens -= 1
  }

  /** Tokens of visible text, before the text itself is written. */
  addTokens(tokens: readonly TokenLogprob[]): void {
    if (this.#open === 'tool-call') return
    for (const token of tokens) this.#aligner?.push(token)
  }

  /** Takes white space away from a text at the start of its block. */
  trimStart(kind: 'thinking' | 'text', text: string): string {
    if (!this.#trimsStart || this.#hasBegun) return text
    const trimmed = text.trimStart()
    this.#hasBegun = trimmed !== ''
    if (kind === 'text') this.#aligner?.discard(Buffer.byteLength(text) - Buffer.byteLength(trimmed))
    return trimmed
  }

  /** Passes over text at the front that is not part of the answer. */
  skip(text: string): void {
    this.#aligner?.discard(Buffer.byteLength(text))
  }

  writeThinking(text: string): void {
    if (text === '') return
    this.#openBlock({ kind: 'thinking' })
    this.#delta(text)
  }

  writeText(text: string): void {
    if (text === '') return
    if (this.#aligner === null) this.#writeAligned({ text, logprobs: [] })
    else this.#writeAligned(this.#aligner.show(text))
  }

  openCall(id: string, name: string): void {
    this.close()
    // What is left are the tokens of the markup that announces the call.
    this.#aligner?.discard(Infinity)
    this.#openBlock({ kind: 'tool-call', id, name })
  }

  writeArguments(text: string): void {
    if (text !== '') this.#delta(text)
  }

  close(): void {
    if (this.#aligner !== null) this.#writeAligned(this.#aligner.flush())
    if (this.#open !== null) this.#emit({ type: 'block-end' })
    this.#open = null
    this.#hasBegun = false
  }

  #writeAligned(aligned: AlignedText | null): void {
    if (aligned === null || aligned.text === '') return
    this.#openBlock({ kind: 'text' })
    this.#delta(aligned.text, aligned.logprobs)
  }

  #openBlock(block: BlockStart): void {
    if (this.#open === block.kind && block.kind !== 'tool-call') return
    if (this.#open !== null) this.#emit({ type: 'block-end' })
    this.#open = block.kind
    this.#emit({ type: 'block-start', block })
  }

  #delta(text: string, logprobs: readonly TokenLogprob[] = []): void {
    const tokens = this.#unshownTokens
    this.#unshownTokens = 0
    this.#emit({ type: 'delta', text, tokens, ...(this.#aligner !== null && this.#open === 'text' && { logprobs }) })
  }
}
