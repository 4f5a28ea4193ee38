type Branch = { readonly next: Map<number, Branch>; isEnd: boolean }

/** Behind so many characters that begin no token after all, they are not rare. */
const likenessesMax = 32

export type Found = { readonly start: number; readonly end: number }

/**
 * Finds tokens by their texts.
 *
 * Hundreds of them differ in their last characters only; in a tree what they have in common is
 * compared once, so that the time for a place is bounded by the length of one token, whatever the
 * text. A pattern of alternatives takes ten times as long where a text is full of beginnings.
 */
export class TokenFinder {
  readonly #root: Branch = { next: new Map(), isEnd: false }
  /** The characters, as UTF-16 units, that a token begins with. */
  readonly #begins = new Uint8Array(0x10000)
  readonly #begin: RegExp

  constructor(texts: readonly string[]) {
    for (const text of texts) {
      let branch = this.#root
      for (let index = 0; index < text.length; index++) {
        const unit = text.charCodeAt(index)
        const next = branch.next.get(unit) ?? { next: new Map<number, Branch>(), isEnd: false }
        branch.next.set(unit, next)
        branch = next
      }
      branch.isEnd = true
      this.#begins[text.charCodeAt(0)] = 1
    }
    const units = [...this.#root.next.keys()].map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    this.#begin = new RegExp(units.length === 0 ? '[]' : `[${units.join('')}]`, 'g')
  }

  /** The first token that begins at or behind a place; of several that begin there, the longest. */
  next(units: Uint16Array, from: number): Found | null {
    if (this.#root.next.size === 0) return null
    const begins = this.#begins
    for (let start = from; start < units.length; start++) {
      if (begins[units[start] ?? 0] === 0) continue
      const end = this.#endAt(units, start)
      if (end !== -1) return { start, end }
    }
    return null
  }

  /** The same in a text where hardly anything begins like a token, which a pattern goes over in a third of the time. */
  nextRare(text: string, units: Uint16Array, from: number): Found | null {
    const begin = this.#begin
    begin.lastIndex = from
    for (let likenesses = 0; begin.test(text); likenesses++) {
      if (likenesses > likenessesMax) return this.next(units, begin.lastIndex - 1)
      const start = begin.lastIndex - 1
      const end = this.#endAt(units, start)
      if (end !== -1) return { start, end }
    }
    return null
  }

  #endAt(units: Uint16Array, start: number): number {
    let end = -1
    let branch: Branch | undefined = this.#root
    for (let index = start; index < units.length; index++) {
      branch = branch.next.get(units[index] ?? 0)
      if (branch === undefined) break
      if (branch.isEnd) end = index + 1
    }
    return end
  }
}
