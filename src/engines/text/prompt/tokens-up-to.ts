import type { Vocabulary } from '../vocabulary.ts'

/** Tokens that stand for one run of characters, whatever is around it. */
export type Part = { readonly text: string; readonly tokens: Uint32Array }

export type TokensBefore = {
  /** The number of tokens that lie wholly before the place. */
  readonly whole: number
  /** The same, and the token that reaches beyond the place. */
  readonly begun: number
}

/**
 * Counts the tokens before each of some places in a text, which are in ascending order.
 *
 * One walk over the tokens serves all places: a request may have thousands of blocks, and to
 * tokenize the text before each of them again would take the square of their number.
 */
export function tokensUpTo(
  parts: readonly Part[],
  places: readonly number[],
  vocabulary: Pick<Vocabulary, 'bytesOf'>,
): TokensBefore[] {
  const found: TokensBefore[] = []
  let start = 0
  let tokensBefore = 0
  for (const { text, tokens } of parts) {
    const end = start + text.length
    const inside: number[] = []
    while (found.length + inside.length < places.length) {
      const place = places[found.length + inside.length] ?? Infinity
      if (place >= end) break
      inside.push(place - start)
    }
    for (const { whole, begun } of walk(text, tokens, { inside, vocabulary }))
      found.push({ whole: tokensBefore + whole, begun: tokensBefore + begun })
    start = end
    tokensBefore += tokens.length
  }
  while (found.length < places.length) found.push({ whole: tokensBefore, begun: tokensBefore })
  return found
}

type Search = { readonly inside: readonly number[]; readonly vocabulary: Pick<Vocabulary, 'bytesOf'> }

/** A place inside a special token's name lies before its end, whatever the token's bytes are. */
function* walk(text: string, tokens: Uint32Array, { inside, vocabulary }: Search): Generator<TokensBefore> {
  if (inside.length === 0) return
  const lengths = new Uint32Array(tokens.length)
  let tokenBytes = 0
  for (let index = 0; index < tokens.length; index++) {
    const { length } = vocabulary.bytesOf(tokens[index] ?? 0)
    lengths[index] = length
    tokenBytes += length
  }
  // Some vocabularies write a space in front of a text; a few change its characters, and there the place is a good guess.
  const added = tokenBytes - Buffer.byteLength(text)
  const scale = added === 0 || added === 1 ? 1 : tokenBytes / Math.max(1, tokenBytes - added)
  let bytes = 0
  let measured = 0
  let reached = added === 1 ? -1 : 0
  let whole = 0
  for (const place of inside) {
    bytes += Buffer.byteLength(text.slice(measured, place))
    measured = place
    while (whole < lengths.length && reached + (lengths[whole] ?? 0) <= bytes * scale) reached += lengths[whole++] ?? 0
    yield {
      whole: place === 0 ? 0 : whole,
      begun: reached < bytes * scale ? Math.min(whole + 1, lengths.length) : whole,
    }
  }
}
