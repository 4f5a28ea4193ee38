import { TokenLookup } from './token-lookup.ts'

/**
 * Lengths that a draft may have, each with as many right guesses in a row as it has tokens.
 *
 * With the token before them they are multiples of four: a processor computes
 * four tokens of a sequence in the time of two and a half, but two in the time of two.
 */
const lengths = [3, 7, 15, 31, 63]

/** A guess that was wrong leaves this share of the trust: a copy goes on behind a changed word. */
const keptShare = 1 / 4

/** In an answer that is over before this nothing is looked up. */
const outputTokensBefore = 8

/** While less than this share of the latest drafts was right, a longer row of right guesses must come first: a processor would lose. */
const neededShare = 1 / 2
const cautiousTrust = 7
/** What a draft of before still counts for. */
const rememberedShare = 0.9

const nothing = new Uint32Array()

/**
 * Drafts how one answer goes on, and learns from what was chosen instead how far its drafts are to be trusted.
 *
 * Every token is guessed, drafted or not, which costs next to nothing. Only after several
 * right guesses in a row the guesses are computed ahead: a text that repeats nothing pays for none.
 */
export class Speculator {
  readonly #draftTokensMax: number
  #lookup: TokenLookup | null = null
  #guess: Uint32Array = nothing
  #compared = 0
  /** Right guesses in a row, as far as a longer row would change nothing. */
  #trust = 0
  /** Tokens of the last drafts and how many of them were right, the older ones counted for less. */
  #drafted = 0
  #accepted = 0

  constructor(draftTokensMax: number) {
    this.#draftTokensMax = draftTokensMax
  }

  /** A draft of what comes when `next` follows `held`; empty where there is none or it is not trusted. */
  draft(held: Uint32Array, next: number, outputTokens: number, room: number): Uint32Array {
    this.#compared = 0
    this.#guess = nothing
    if (outputTokens < outputTokensBefore) return nothing
    this.#lookup ??= new TokenLookup()
    const isInVain = this.#accepted < this.#drafted * neededShare
    const trust = isInVain && this.#trust < cautiousTrust ? 0 : this.#trust
    const length = trustedLength(Math.min(trust, room, this.#draftTokensMax))
    this.#guess = this.#lookup.guess(held, next, length + 1)
    return this.#guess.subarray(0, length)
  }

  /** Notes what became of a draft that was computed. */
  settle(drafted: number, accepted: number): void {
    this.#drafted = this.#drafted * rememberedShare + drafted
    this.#accepted = this.#accepted * rememberedShare + accepted
  }

  /** Compares a token that was chosen with the guess. */
  observe(token: number): void {
    const guessed = this.#guess[this.#compared]
    this.#compared += 1
    if (guessed === undefined) return
    if (guessed === token) {
      this.#trust = Math.min(Math.max(cautiousTrust, this.#draftTokensMax), this.#trust + 1)
      return
    }
    this.#trust = Math.floor(this.#trust * keptShare)
    this.#guess = nothing
  }
}

/** The longest length that is not beyond `trust`. */
export function trustedLength(trust: number): number {
  return lengths.findLast((length) => length <= trust) ?? 0
}
