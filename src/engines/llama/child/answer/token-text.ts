import type { TokenLogprob } from '../../../../core/generation.ts'

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
