// Trains a byte-level byte-pair tokenizer. Every one of the 256 byte values is a token of its own, so any text survives
// a round trip, and merging goes on until each word of the training text is a single token.

export interface Tokenizer {
  /** Token texts by identifier, with ordinary tokens spelled in the printable alphabet of `byteAlphabet`. */
  tokens: readonly string[]
  types: readonly number[]
  /** Pairs of pieces to join, most important first, each written with a space between the two. */
  merges: readonly string[]
  /** Splits text into words and returns one identifier for each; throws on a word that is not a single token. */
  encodeWords: (text: string) => number[]
  idOf: (text: string) => number
}

const TOKEN_TYPE = { normal: 1, control: 3, userDefined: 4 } as const

/** Control tokens never appear in the text a reader sees; the marks of thinking and tool calls do. */
export const CONTROL_TOKENS = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'] as const
export const MARK_TOKENS = ['<think>', '</think>', '<tool_call>', '</tool_call>'] as const

// The runtime cuts text with this same pattern before it applies any merge. A run of punctuation takes the line breaks
// behind it along, so "...\n" is one word and can differ in meaning from "...".
const WORD =
  /(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+/gu

const isPrintable = (byte: number): boolean =>
  (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff)

/** One printable character for each byte value: itself where it has a glyph, otherwise the next one from U+0100 on. */
export const byteAlphabet: readonly string[] = (() => {
  let next = 0x100
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isPrintable(byte) ? byte : next++))
})()

const spell = (text: string): string[] => [...Buffer.from(text, 'utf8')].map((byte) => byteAlphabet[byte]!)

const splitWords = (text: string): string[] => text.match(WORD) ?? []

const mergePair = (pieces: readonly string[], left: string, right: string): string[] => {
  const merged: string[] = []
  for (let index = 0; index < pieces.length; index++) {
    if (pieces[index] === left && pieces[index + 1] === right) {
      merged.push(left + right)
      index++
    } else merged.push(pieces[index]!)
  }
  return merged
}

// Ties go to the pair that sorts first, so the result never depends on the order in which words were met.
const mostFrequentPair = (words: readonly { pieces: string[]; count: number }[]): string | undefined => {
  const counts = new Map<string, number>()
  for (const { pieces, count } of words) {
    for (let index = 0; index + 1 < pieces.length; index++) {
      const pair = `${pieces[index]} ${pieces[index + 1]}`
      counts.set(pair, (counts.get(pair) ?? 0) + count)
    }
  }
  let best: string | undefined
  for (const [pair, count] of counts) {
    const bestCount = best === undefined ? 0 : counts.get(best)!
    if (count > bestCount || (count === bestCount && pair < best!)) best = pair
  }
  return best
}

const learnMerges = (texts: readonly string[]): string[] => {
  const counts = new Map<string, number>()
  for (const word of texts.flatMap((text) => splitWords(text))) counts.set(word, (counts.get(word) ?? 0) + 1)
  const words = [...counts].map(([word, count]) => ({ pieces: spell(word), count }))
  const merges: string[] = []
  for (let pair = mostFrequentPair(words); pair !== undefined; pair = mostFrequentPair(words)) {
    const [left, right] = pair.split(' ') as [string, string]
    for (const word of words) word.pieces = mergePair(word.pieces, left, right)
    merges.push(pair)
  }
  return merges
}

export const trainTokenizer = (texts: readonly string[]): Tokenizer => {
  const merges = learnMerges(texts)
  const normal = [...new Set([...byteAlphabet, ...merges.map((pair) => pair.replace(' ', ''))])]
  const tokens = [...normal, ...CONTROL_TOKENS, ...MARK_TOKENS]
  const identifiers = new Map(tokens.map((token, identifier) => [token, identifier]))

  const find = (token: string, text: string): number => {
    const identifier = identifiers.get(token)
    if (identifier === undefined) throw new Error(`${JSON.stringify(text)} is not a single token`)
    return identifier
  }
  const specials: readonly string[] = [...CONTROL_TOKENS, ...MARK_TOKENS]
  return {
    tokens,
    types: [
      ...normal.map(() => TOKEN_TYPE.normal),
      ...CONTROL_TOKENS.map(() => TOKEN_TYPE.control),
      ...MARK_TOKENS.map(() => TOKEN_TYPE.userDefined),
    ],
    merges,
    encodeWords: (text) => splitWords(text).map((word) => find(spell(word).join(''), word)),
    idOf: (text) => find(specials.includes(text) ? text : spell(text).join(''), text),
  }
}
