import { setImmediate } from 'node:timers/promises'
import type { PromptPiece } from '../../../../prompts/control-tokens.ts'
import { commonPrefix } from '../prompt-cache/token-list.ts'
import type { Vocabulary } from '../vocabulary.ts'

/** Tokens, and how they lie in the text they stand for, in which a special token has its name. */
export type TokenizedPrompt = {
  readonly tokens: Uint32Array
  /** How many tokens cover so many characters; one that reaches beyond them does not count. */
  tokensIn(characters: number): number
  /** The character with which a token begins. */
  startOf(token: number): number
}

/** Of the slowest text measured this takes 30 ms. */
const partCharactersMax = 65_536

/** Tokens that stand for one run of characters, whatever is around it. */
type Part = { readonly text: string; readonly tokens: Uint32Array }

/** Tokenizes in parts, with pauses between them, so that running answers go on. */
export async function tokenizePieces(pieces: readonly PromptPiece[], vocabulary: Vocabulary): Promise<TokenizedPrompt> {
  const parts: Part[] = []
  let sincePause = 0
  for (const part of toParts(pieces, vocabulary)) {
    parts.push(part)
    sincePause += part.text.length
    if (sincePause < partCharactersMax) continue
    sincePause = 0
    await setImmediate()
  }
  const { bosToken } = vocabulary
  const addsBos = vocabulary.prependsBos && bosToken !== null && parts[0]?.tokens[0] !== bosToken
  if (addsBos) parts.unshift({ text: '', tokens: Uint32Array.of(bosToken) })
  return {
    tokens: concat(parts.map(({ tokens }) => tokens)),
    tokensIn: (characters) => tokensIn(parts, characters, vocabulary),
    startOf: (token) => startOf(parts, token, vocabulary),
  }
}

function* toParts(pieces: readonly PromptPiece[], vocabulary: Vocabulary): Generator<Part> {
  const names = new Map(vocabulary.specialTokens.map(({ token, text }) => [token, text]))
  for (const piece of pieces) {
    if (piece.kind === 'special') yield { text: names.get(piece.token) ?? '', tokens: Uint32Array.of(piece.token) }
    else {
      const texts = vocabulary.cutsBetweenWords ? cutBetweenWords(piece.text) : [piece.text]
      for (const text of texts) yield { text, tokens: vocabulary.tokenize(text) }
    }
  }
}

function tokensIn(parts: readonly Part[], characters: number, vocabulary: Vocabulary): number {
  let length = 0
  let left = characters
  for (const { text, tokens } of parts) {
    if (left <= 0) break
    length += left >= text.length ? tokens.length : commonPrefix(vocabulary.tokenize(text.slice(0, left)), tokens)
    left -= text.length
  }
  return length
}

function startOf(parts: readonly Part[], token: number, vocabulary: Vocabulary): number {
  let start = 0
  let left = token
  for (const { text, tokens } of parts) {
    if (left < tokens.length) return start + charactersOf(tokens.subarray(0, left), vocabulary)
    start += text.length
    left -= tokens.length
  }
  return start
}

/** A character that was cut in two does not count. */
function charactersOf(tokens: Uint32Array, vocabulary: Vocabulary): number {
  const bytes = Buffer.concat(Array.from(tokens, (token) => vocabulary.bytesOf(token)))
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true }).length
}

/** Cuts before a space between two letters; where there is none, the text stays whole. */
function* cutBetweenWords(text: string): Generator<string> {
  let start = 0
  while (text.length - start > partCharactersMax) {
    const border = /\p{L} \p{L}/gu
    border.lastIndex = start + partCharactersMax
    const match = border.exec(text)
    if (match === null) break
    const end = match.index + match[0].indexOf(' ')
    yield text.slice(start, end)
    start = end
  }
  yield text.slice(start)
}

function concat(parts: readonly Uint32Array[]): Uint32Array {
  const tokens = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0))
  let offset = 0
  for (const part of parts) {
    tokens.set(part, offset)
    offset += part.length
  }
  return tokens
}
