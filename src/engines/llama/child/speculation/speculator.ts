// Speculative decoding by prompt lookup: tokens are drafted from what followed the same words earlier in the text.

/**
 * Lengths that a draft may have, each with as many right guesses in a row as it has tokens.
 *
 * With the token before them they are multiples of four: a processor computes
 * four tokens of a sequence in the time of two and a half, but two in the time of two.
 */
const lengths = [3, 7, 15, 31, 63]

/** A guess that was wrong leaves this share of the trust: a copy goes on behind a changed word. */
const keptShare = 1 / 4

/** Nothing is looked up for an answer that is shorter than this. */
const outputTokensBefore = 8

/** While less than this share of the latest drafts was right, a longer row of right guesses must come first, or a processor would lose. */
const neededShare = 1 / 2
const cautiousTrust = 7
/** The weight that an earlier draft keeps with each later one. */
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

/** The longest draft that `trust` allows. */
export function trustedLength(trust: number): number {
  return lengths.findLast((length) => length <= trust) ?? 0
}

/** An answer that goes on with `next`, and may be drafted. */
export type Draftable = {
  /** Tokens that a draft may have before it would be longer than the answer or its window. */
  readonly room: number
  draft(room: number): Uint32Array
}

/**
 * The most tokens of a step that drafts.
 *
 * A processor gains nothing from more, and every answer waits for the step.
 */
const stepTokensMax = 32

/**
 * Drafts for all answers of a step, equally long.
 *
 * Sequences with different numbers of tokens are computed one after the other, so that an
 * answer without a draft would wait for those that have one. So one alone drafts freely, and
 * several only while all of them have something to draft.
 */
export function draftTogether(answers: readonly Draftable[], batchTokens: number): Uint32Array[] {
  const share = Math.floor(Math.min(stepTokensMax, batchTokens) / answers.length) - 1
  // Each is asked: those that draft nothing now learn whether their guesses would have been right.
  const drafts = answers.map((answer) => answer.draft(Math.max(0, Math.min(share, answer.room))))
  const length = trustedLength(Math.min(...drafts.map((draft) => draft.length)))
  return drafts.map((draft) => draft.subarray(0, length))
}

/** A table is made anew when the text has outgrown it, with room for twice the text. */
const roomFactor = 2
const capacityMin = 1_024

/**
 * Guesses how a text goes on from what followed its last two or three tokens where they last stood before.
 *
 * The tables hold the latest place of each pair and each triple under a hash and nothing
 * else: 16 to 32 bytes a token, and the work of a few instructions. What is found there is
 * compared with the text, so that two that share a place cost a guess and never a wrong one.
 */
export class TokenLookup {
  /** The place of the token that followed; zero is none, as nothing stands before the first token. */
  #afterPair = new Int32Array()
  #afterTriple = new Int32Array()
  #indexed = 0
  /** Where the last guess was taken from, and how long the text was then. */
  #source = { place: 0, length: 0 }

  /**
   * Guesses up to `tokensMax` tokens that follow when `next` comes after `held`.
   *
   * `held` may only have grown since the last call.
   */
  guess(held: Uint32Array, next: number, tokensMax: number): Uint32Array {
    this.#index(held)
    const place = this.#find(held, next)
    if (place === null) return nothing
    this.#source = { place, length: held.length }
    const guessed = new Uint32Array(tokensMax)
    for (let at = 0; at < tokensMax; at++) {
      const from = place + at
      // A text that repeats itself is guessed on from the guess.
      if (from < held.length) guessed[at] = held[from] ?? 0
      else guessed[at] = from === held.length ? next : (guessed[from - held.length - 1] ?? 0)
    }
    return guessed
  }

  #find(held: Uint32Array, next: number): number | null {
    const [second, third] = [held.at(-1), held.at(-2)]
    if (second === undefined || third === undefined) return null
    // A copy goes on where it was, also behind a word that was changed and where its words stand in several places.
    const places = [
      this.#source.place + held.length - this.#source.length,
      this.#afterTriple[this.#slotOf(third, second, next)] ?? 0,
      this.#afterPair[this.#slotOf(second, next)] ?? 0,
    ]
    const isAfterPair = (at: number) => at > 1 && at < held.length && held[at - 1] === next && held[at - 2] === second
    return places.find(isAfterPair) ?? null
  }

  #index(held: Uint32Array): void {
    if (held.length > this.#afterPair.length) {
      const capacity = 2 ** Math.ceil(Math.log2(Math.max(capacityMin, roomFactor * held.length)))
      this.#afterPair = new Int32Array(capacity)
      this.#afterTriple = new Int32Array(capacity)
      this.#indexed = 0
    }
    for (let place = Math.max(2, this.#indexed); place < held.length; place++) {
      const [first = 0, second = 0, third = 0] = [held[place - 1], held[place - 2], held[place - 3]]
      this.#afterPair[this.#slotOf(second, first)] = place
      if (place > 2) this.#afterTriple[this.#slotOf(third, second, first)] = place
    }
    this.#indexed = held.length
  }

  /** Odd multipliers, the fractions of the golden ratio and of the roots of three and five, spread neighbours apart. */
  #slotOf(first: number, second: number, third = 0): number {
    const mixed =
      Math.imul(first, 0x9e3779b1) ^ Math.imul(second + 0x3c6ef372, 0xbb67ae85) ^ Math.imul(third, 0x3c6ef373)
    return (mixed ^ (mixed >>> 15)) & (this.#afterPair.length - 1)
  }
}
