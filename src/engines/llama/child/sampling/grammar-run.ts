import type { GrammarState, Native } from '../native.ts'
import { continueUtf8, nextByteRange } from '../../../text/utf8.ts'
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

  /** Where the grammar is. A sampler that is given it moves it on by the token that it chooses. */
  get state(): GrammarState {
    return this.#state
  }

  /**
   * Takes a token that was chosen, by which the state has moved on already or has not. False where the grammar has no place
   * for it or it is no text here: it is then as if it had not been chosen.
   */
  take(token: number, hasMoved: boolean): boolean {
    if (this.#vocabulary.endsGeneration(token)) return hasMoved || this.#native.allowsToken(this.#state, token)
    if (!hasMoved && !this.#native.acceptToken(this.#state, token)) return false
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
