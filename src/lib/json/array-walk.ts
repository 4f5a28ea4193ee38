const quote = 0x22
const backslash = 0x5c

/**
 * How an array of this name begins in an object that is written without white space. What is in a text of JSON has its quotes
 * escaped, so these bytes are found nowhere else.
 */
export function arrayStart(name: string): Buffer {
  return Buffer.from(`${JSON.stringify(name)}:[`)
}

/** Walks along the elements of one array of JSON, whose bytes may come in pieces. It begins behind the array's bracket. */
export class ArrayWalk {
  #depth = 0
  #isInText = false
  #isEscaped = false

  /** Where the element under way ends: at the comma or the bracket behind it. Minus one where these bytes end before. */
  endOfElement(json: Uint8Array, from: number): number {
    for (let at = from; at < json.length; at++) {
      const byte = json[at]
      if (this.#isInText) this.#readText(byte)
      else if (this.#isEnd(byte)) return at
    }
    return -1
  }

  #isEnd(byte: number | undefined): boolean {
    switch (byte) {
      case quote:
        this.#isInText = true
        return false
      case 0x5b: // [
      case 0x7b: // {
        this.#depth += 1
        return false
      case 0x5d: // ]
      case 0x7d: // }
        if (this.#depth === 0) return true
        this.#depth -= 1
        return false
      case 0x2c: // ,
        return this.#depth === 0
      default:
        return false
    }
  }

  #readText(byte: number | undefined): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === backslash) this.#isEscaped = true
    else if (byte === quote) this.#isInText = false
  }
}
