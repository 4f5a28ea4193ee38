/** Tokens that grow and shrink at their end. */
export class TokenList {
  #buffer = new Uint32Array(256)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** What it holds now; valid until it next changes. */
  view(): Uint32Array {
    return this.#buffer.subarray(0, this.#length)
  }

  push(tokens: Uint32Array): void {
    const length = this.#length + tokens.length
    if (length > this.#buffer.length) {
      const larger = new Uint32Array(Math.max(length, 2 * this.#buffer.length))
      larger.set(this.view())
      this.#buffer = larger
    }
    this.#buffer.set(tokens, this.#length)
    this.#length = length
  }

  cutBack(length: number): void {
    this.#length = Math.min(this.#length, length)
  }
}

/** How many tokens two prompts begin with in common. */
export function commonPrefix(a: Uint32Array, b: Uint32Array): number {
  const end = Math.min(a.length, b.length)
  let length = 0
  while (length < end && a[length] === b[length]) length += 1
  return length
}
