import type { GrammarState, Native } from '../native.ts'
import type { Vocabulary } from '../../../text/vocabulary.ts'

/**
 * A grammar under way, kept to real characters.
 *
 * The native grammar reads bytes carelessly: it takes overlong spellings, and
 * bytes that do not go on with a character, for the character they would be.
 * Written out they are no text at all.
 */
export class GrammarRun {
  readonly #native: Native
  readonly #vocabulary: Vocabulary
  readonly #grammar: string
  readonly #tokens: number[]
  #state: GrammarState
  /** The bytes of a character that is not whole yet. */
  #pending: Uint8Array = new Uint8Array()

  constructor(native: Native, vocabulary: Vocabulary, grammar: string, begun: readonly number[]) {
    this.#native = native
    this.#vocabulary = vocabulary
    this.#grammar = grammar
    this.#tokens = [...begun]
    this.#state = this.#replay()
  }

  /** Where the grammar is; the sampler has moved it on by the token it chose. */
  get state(): GrammarState {
    return this.#state
  }

  /** Takes a token the sampler chose. False when it is no text here: it is then as if it had not been chosen. */
  take(token: number): boolean {
    if (this.#vocabulary.endsGeneration(token)) return true
    const pending = continueUtf8(this.#pending, this.#vocabulary.bytesOf(token))
    if (pending === null || !this.#canGoOn(pending)) {
      this.#state = this.#replay()
      return false
    }
    this.#pending = pending
    this.#tokens.push(token)
    return true
  }

  /** Whether some byte completes what has begun, or leads on towards that. */
  #canGoOn(pending: Uint8Array): boolean {
    const range = nextByteRange(pending)
    if (range === null) return true
    for (let byte = range[0]; byte <= range[1]; byte++) {
      const token = this.#vocabulary.tokenOfByte(byte)
      if (token !== undefined && this.#native.allowsToken(this.#state, token)) return true
    }
    return false
  }

  #replay(): GrammarState {
    const state = this.#native.createGrammarState(this.#grammar)
    for (const token of this.#tokens) this.#native.acceptToken(state, token)
    return state
  }
}

/** The bytes that may go on with a character whose beginning is `pending`; null when it is whole or cannot be one. */
export function nextByteRange(pending: Uint8Array): readonly [low: number, high: number] | null {
  const [lead = 0] = pending
  const length =
    lead >= 0xc2 && lead <= 0xdf ? 2 : lead >= 0xe0 && lead <= 0xef ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0
  if (pending.length === 0 || pending.length >= length) return null
  if (pending.length > 1) return [0x80, 0xbf]
  // Longer spellings than needed, surrogates and what lies beyond Unicode are no characters.
  if (lead === 0xe0) return [0xa0, 0xbf]
  if (lead === 0xed) return [0x80, 0x9f]
  if (lead === 0xf0) return [0x90, 0xbf]
  if (lead === 0xf4) return [0x80, 0x8f]
  return [0x80, 0xbf]
}

/** What is left open after more bytes: the beginning of a character, or null when the bytes are no text. */
export function continueUtf8(pending: Uint8Array, bytes: Uint8Array): Uint8Array | null {
  let open = [...pending]
  for (const byte of bytes) {
    const range = nextByteRange(Uint8Array.from(open))
    if (range === null && byte < 0x80) continue
    if (range !== null && (byte < range[0] || byte > range[1])) return null
    open.push(byte)
    const next = nextByteRange(Uint8Array.from(open))
    if (next !== null) continue
    if (range === null) return null
    open = []
  }
  return Uint8Array.from(open)
}
