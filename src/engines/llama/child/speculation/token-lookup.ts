/** A table is made anew when the text has outgrown it, with room for twice the text. */
const roomFactor = 2
const capacityMin = 1_024

const nothing = new Uint32Array()

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
   * What probably follows when `next` comes after `held`, at most so many tokens.
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
