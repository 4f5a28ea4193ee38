import type { TokenLogprob } from '../../../core/generation.ts'

/** Text that became whole, and the tokens it is made of where log-probabilities are wanted. */
export type DecodedText = { readonly text: string; readonly tokens: readonly TokenLogprob[] }

/**
 * Decodes the bytes of tokens into text as far as they make whole characters.
 *
 * Bytes that are no text become replacement marks. The tokens then carry the
 * bytes of what is shown, so that they still add up to the text.
 */
export class TokenTextDecoder {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  #tokens: TokenLogprob[] = []
  #text = ''

  /** Forgets half a character: what follows does not go on with it. */
  reset(): void {
    this.#decoder.decode()
    this.#tokens = []
    this.#text = ''
  }

  decode(bytes: Uint8Array, logprob: TokenLogprob | null): DecodedText {
    const text = this.#decoder.decode(bytes, { stream: true })
    if (logprob === null) return { text, tokens: [] }
    this.#tokens.push(logprob)
    this.#text += text
    const shown = Buffer.from(this.#text)
    const raw = Buffer.concat(this.#tokens.map((token) => token.bytes))
    const isPending = raw.length > shown.length && raw.subarray(0, shown.length).equals(shown)
    // A character is at most four bytes, so what is pending is at most three.
    if (isPending && raw.length - shown.length <= 3) return { text, tokens: [] }
    const tokens = raw.equals(shown) ? this.#tokens : [{ ...logprob, bytes: shown }]
    this.#tokens = []
    this.#text = ''
    return { text, tokens }
  }
}

/** A piece of the answer's text with the log-probabilities of exactly the tokens it is made of. */
export type AlignedText = { readonly text: string; readonly logprobs: readonly TokenLogprob[] }

/**
 * Keeps the text of an answer and the log-probabilities of its tokens in step.
 *
 * A token may end inside a character, and part of it may be held back as the
 * beginning of a stop sequence. Text is therefore let go in whole tokens that
 * end with a whole character; what is left at the end takes with it the part of
 * the last token that was shown. So the bytes of all tokens are the text's.
 */
export class LogprobAligner {
  readonly #tokens: TokenLogprob[] = []
  #shown = Buffer.alloc(0)

  /** The next token of the visible text. */
  push(token: TokenLogprob): void {
    if (token.bytes.length > 0) this.#tokens.push(token)
  }

  /** Forgets bytes at the front that are not part of the answer. */
  discard(byteCount: number): void {
    let left = byteCount
    for (let first = this.#tokens[0]; left > 0 && first !== undefined; first = this.#tokens[0]) {
      const dropped = Math.min(left, first.bytes.length)
      left -= dropped
      if (dropped === first.bytes.length) this.#tokens.shift()
      else this.#tokens[0] = { ...first, bytes: first.bytes.subarray(dropped) }
    }
  }

  /** Text that may be shown now; null while it does not make up whole tokens. */
  show(text: string): AlignedText | null {
    this.#shown = Buffer.concat([this.#shown, Buffer.from(text)])
    let count = 0
    let end = 0
    let position = 0
    for (const [index, { bytes }] of this.#tokens.entries()) {
      position += bytes.length
      if (position > this.#shown.length) break
      if (!isContinuation(this.#shown[position])) [count, end] = [index + 1, position]
    }
    return count === 0 ? null : this.#take(count, end)
  }

  /** The rest, with the last token cut to what was shown of it. */
  flush(): AlignedText | null {
    if (this.#shown.length === 0) return null
    let position = 0
    let count = 0
    while (position < this.#shown.length && count < this.#tokens.length) {
      const token = this.#tokens[count]
      if (token === undefined) break
      const bytes = token.bytes.subarray(0, this.#shown.length - position)
      this.#tokens[count] = { ...token, bytes }
      position += bytes.length
      count += 1
    }
    return this.#take(count, this.#shown.length)
  }

  #take(count: number, end: number): AlignedText {
    const text = this.#shown.toString('utf8', 0, end)
    this.#shown = this.#shown.subarray(end)
    return { text, logprobs: this.#tokens.splice(0, count) }
  }
}

/** Whether a byte goes on with a character that an earlier one began. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
