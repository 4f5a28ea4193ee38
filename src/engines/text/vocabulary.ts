import type { SpecialToken } from '../../chat-format/control-tokens.ts'

/** Bits of llama.cpp's token attributes. */
const attribute = { unknown: 1, control: 8, userDefined: 16, byte: 32 }
/** llama.cpp's vocabulary types whose pieces write a space as U+2581. */
const spacedVocabularyTypes: ReadonlySet<number> = new Set([1, 4])
const bytePairVocabularyType = 2
/** Those that look at a text as a whole, to choose its pieces or to tidy up its white space. */
const wholeTextVocabularyTypes: ReadonlySet<number> = new Set([3, 4])
/** A byte that is no text and so becomes a token by itself. */
const anchor = '\u0001'
/** A code unit of a JavaScript text is no more bytes of UTF-8. */
const bytesOfUnitMax = 3

/** A vocabulary as llama.cpp offers it. */
export interface NativeVocabulary {
  tokenize(text: string, takesSpecialTokens: boolean): Uint32Array
  detokenize(tokens: Uint32Array, showsSpecialTokens: boolean): string
  getTokenString(token: number): string
  getTokenAttributes(token: number): number
  isEogToken(token: number): boolean
  tokenBos(): number
  tokenEos(): number
  getVocabularyType(): number
  shouldPrependBosToken(): boolean
}

/** What the weights say of text. */
export type NativeText = {
  readonly vocabulary: NativeVocabulary
  readonly vocabularySize: number
  readonly chatTemplate: string | null
}

export interface Vocabulary {
  /** Tokens of plain text; control tokens written in it stay text. */
  tokenize(text: string): Uint32Array
  /** Tokens of markup, special ones included. */
  tokenizeMarkup(text: string): Uint32Array
  /** Tokens of text that goes on behind other text: nothing is put in front of it. */
  tokenizeFollowing(text: string): Uint32Array
  /** Whether a text may be tokenized in parts. */
  readonly takesParts: boolean
  /** No token stands for more bytes. */
  readonly tokenBytesMax: number
  /** The exact bytes a token stands for; control tokens stand for none. */
  bytesOf(token: number): Uint8Array
  /** The token that stands for one byte alone, where there is one. */
  tokenOfByte(byte: number): number | undefined
  endsGeneration(token: number): boolean
  readonly endTokens: readonly number[]
  /** Control tokens, and those the model's makers have added as one word each. */
  readonly specialTokens: readonly SpecialToken[]
  readonly bosToken: number | null
  readonly prependsBos: boolean
}

export type VocabularyOptions = {
  /** The number of tokens. */
  readonly size: number
  /** A control token that occurs in one of these is a marker to be read, and is not left out of the text. */
  readonly markup: readonly string[]
  /** Tokens that occur in it have a meaning that a client's text must not take. */
  readonly templateSource: string
}

export function createVocabulary(native: NativeVocabulary, options: VocabularyOptions): Vocabulary {
  const specialTokens: SpecialToken[] = []
  const hidden = new Set<number>()
  const endTokens: number[] = []
  const byteTokens = new Map<number, number>()
  let tokenBytesMax = 1
  for (let token = 0; token < options.size; token++) {
    const text = native.getTokenString(token)
    const attributes = native.getTokenAttributes(token)
    // In no notation has a token fewer bytes written down than it stands for.
    if (text.length * bytesOfUnitMax > tokenBytesMax && Buffer.byteLength(text) > tokenBytesMax)
      tokenBytesMax = Math.max(tokenBytesMax, tokenBytes(native, token).length)
    if (native.isEogToken(token)) endTokens.push(token)
    const byte = canBeByte(text, attributes) ? singleByte(native, token) : null
    if (byte !== null) byteTokens.set(byte, token)
    const isControl = (attributes & (attribute.control | attribute.unknown)) !== 0
    if (!isControl && (attributes & attribute.userDefined) === 0) continue
    const isReserved = isControl || (text.trim() !== '' && options.templateSource.includes(text))
    specialTokens.push({ text, token, isReserved })
    if (isControl && !options.markup.some((marker) => marker.includes(text))) hidden.add(token)
  }
  const cache: (Uint8Array | undefined)[] = Array.from({ length: options.size })
  const bos = native.tokenBos()
  const tokenize = (text: string) => (text === '' ? new Uint32Array() : native.tokenize(text, false))
  const before = spacedVocabularyTypes.has(native.getVocabularyType()) ? tokenize(anchor) : new Uint32Array()

  return {
    tokenize,
    tokenizeFollowing(text) {
      if (text === '' || before.length === 0) return tokenize(text)
      const tokens = tokenize(anchor + text)
      return before.every((token, index) => tokens[index] === token) ? tokens.subarray(before.length) : tokenize(text)
    },
    tokenizeMarkup: (text) => native.tokenize(text, true),
    bytesOf(token) {
      return (cache[token] ??= hidden.has(token) ? new Uint8Array() : tokenBytes(native, token))
    },
    tokenOfByte: (byte) => byteTokens.get(byte),
    endsGeneration: (token) => native.isEogToken(token),
    endTokens,
    specialTokens,
    takesParts: !wholeTextVocabularyTypes.has(native.getVocabularyType()),
    tokenBytesMax,
    bosToken: bos >= 0 ? bos : null,
    prependsBos: native.shouldPrependBosToken(),
  }
}

/** The texts that a template may ask for by name; a vocabulary may lack either token. */
export function boundaryTexts(native: NativeVocabulary): { readonly bosToken: string; readonly eosToken: string } {
  const textOf = (token: number) => (token >= 0 ? native.getTokenString(token) : '')
  return { bosToken: textOf(native.tokenBos()), eosToken: textOf(native.tokenEos()) }
}

/** Control tokens and added words stand for themselves and for no byte. */
function canBeByte(text: string, attributes: number): boolean {
  if ((attributes & (attribute.control | attribute.unknown | attribute.userDefined)) !== 0) return false
  return (attributes & attribute.byte) !== 0 || isOneCharacter(text)
}

function isOneCharacter(text: string): boolean {
  return text.length === 1 || (text.length === 2 && [...text].length === 1)
}

function singleByte(native: NativeVocabulary, token: number): number | null {
  const bytes = tokenBytes(native, token)
  return bytes.length === 1 ? (bytes[0] ?? null) : null
}

/**
 * A tokenizer may cut inside a character, so a token is bytes and not text.
 *
 * llama.cpp gives them away only as text in which the cut parts are lost; they are
 * read from the vocabulary entry instead, in the notation of each vocabulary type.
 */
function tokenBytes(native: NativeVocabulary, token: number): Uint8Array {
  const text = native.getTokenString(token)
  const attributes = native.getTokenAttributes(token)
  if ((attributes & attribute.byte) !== 0) return Uint8Array.of(Number.parseInt(text.slice(3, 5), 16))
  if ((attributes & (attribute.control | attribute.userDefined)) !== 0) return Buffer.from(text)
  const type = native.getVocabularyType()
  if (type === bytePairVocabularyType) return fromBytePairNotation(text) ?? Buffer.from(text.replaceAll('\u2581', ' '))
  if (spacedVocabularyTypes.has(type)) return Buffer.from(text.replaceAll('\u2581', ' '))
  return Buffer.from(native.detokenize(Uint32Array.of(token), false))
}

/** Byte-level vocabularies write each byte as one printable character. */
const byteOfCharacter = buildByteNotation()

function fromBytePairNotation(text: string): Uint8Array | null {
  const bytes: number[] = []
  for (const character of text) {
    const byte = byteOfCharacter.get(character)
    if (byte === undefined) return null
    bytes.push(byte)
  }
  return Uint8Array.from(bytes)
}

/** Printable Latin-1 characters stand for themselves, the other bytes for characters from U+0100 on, in order. */
function buildByteNotation(): ReadonlyMap<string, number> {
  const notation = new Map<string, number>()
  let next = 0x100
  for (let byte = 0; byte < 256; byte++) {
    const isPrintable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae
    notation.set(String.fromCodePoint(isPrintable ? byte : next++), byte)
  }
  return notation
}
