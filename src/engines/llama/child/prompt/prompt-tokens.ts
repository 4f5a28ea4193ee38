import { setImmediate } from 'node:timers/promises'
import type { PromptPiece } from '../../../../chat-format/control-tokens.ts'
import type { Vocabulary } from '../vocabulary.ts'
import { cutText } from './cut-text.ts'
import { tokensUpTo, type Part, type TokensBefore } from './tokens-up-to.ts'

/** Tokens, and how they lie in the text they stand for, in which a special token has its name. */
export type TokenizedPrompt = {
  readonly tokens: Uint32Array
  /** For places in the text, in ascending order: how many tokens lie before each. */
  tokensUpTo(places: readonly number[]): TokensBefore[]
}

/** What runs between two portions of work; it throws where the work is no longer wanted. */
export type Pause = (tokens: number) => Promise<unknown>

/** As much text as takes a slow tokenizer 30 ms. */
const portionCharacters = 32_768

/** Tokenizes each character once, in parts, with pauses between them. */
export async function tokenizePieces(
  pieces: readonly PromptPiece[],
  vocabulary: Vocabulary,
  pause: Pause = () => setImmediate(),
): Promise<TokenizedPrompt> {
  const parts: Part[] = []
  let sincePause = 0
  let tokens = 0
  for (const part of toParts(pieces, vocabulary)) {
    parts.push(part)
    tokens += part.tokens.length
    sincePause += part.text.length
    if (sincePause < portionCharacters) continue
    sincePause = 0
    await pause(tokens)
  }
  const { bosToken } = vocabulary
  const addsBos = vocabulary.prependsBos && bosToken !== null && parts[0]?.tokens[0] !== bosToken
  if (addsBos) parts.unshift({ text: '', tokens: Uint32Array.of(bosToken) })
  return {
    tokens: concat(parts.map((part) => part.tokens)),
    tokensUpTo: (places) => tokensUpTo(parts, places, vocabulary),
  }
}

function* toParts(pieces: readonly PromptPiece[], vocabulary: Vocabulary): Generator<Part> {
  const names = new Map(vocabulary.specialTokens.map(({ token, text }) => [token, text]))
  let followsText = false
  for (const piece of pieces) {
    if (piece.kind === 'special') {
      yield { text: names.get(piece.token) ?? '', tokens: Uint32Array.of(piece.token) }
      followsText = false
      continue
    }
    for (const text of vocabulary.takesParts ? cutText(piece.text) : [piece.text]) {
      yield { text, tokens: followsText ? vocabulary.tokenizeFollowing(text) : vocabulary.tokenize(text) }
      followsText = true
    }
  }
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
