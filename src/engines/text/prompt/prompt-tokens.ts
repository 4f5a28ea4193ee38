import { setImmediate } from 'node:timers/promises'
import type { PromptPiece } from '../../../chat-format/control-tokens.ts'
import type { Vocabulary } from '../vocabulary.ts'
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

/**
 * The longest stretch without a border that a tokenizer is given, in characters.
 *
 * Many of the library's tokenizers first cut a text into words with expressions that recurse for
 * every character of a word: 32,768 letters without a space overflowed the stack and ended the
 * process in 20 of 52 vocabularies, 16,384 in none; in one, digits take the square of their number.
 */
const stretchCharactersMax = 4_096

/** A tokenizer takes 100 ms for this much of the slowest text measured. */
const partCharactersMax = 65_536

/** How far behind the place where a cut is due a better one is looked for. */
const borderSearchCharacters = 1_024

/**
 * Cuts a text into parts that any tokenizer takes in a short time.
 *
 * A long text is cut before a space between two letters, where no tokenizer that splits text into
 * words joins what is on both sides. A stretch without white space, or of nothing else, is cut as
 * well: at a change between letters, digits and signs, or wherever its length is reached.
 */
export function* cutText(text: string): Generator<string> {
  let start = 0
  for (const stretchEnd of longStretchCuts(text)) {
    yield* cutBetweenWords(text.slice(start, stretchEnd))
    start = stretchEnd
  }
  yield* cutBetweenWords(start === 0 ? text : text.slice(start))
}

function* cutBetweenWords(text: string): Generator<string> {
  let start = 0
  while (text.length - start > partCharactersMax) {
    const due = start + partCharactersMax
    const near = text.slice(due, due + borderSearchCharacters)
    const match = /\p{L} \p{L}/u.exec(near) ?? /\S\s+(?=\S)/u.exec(near)
    const border = match === null ? 0 : match.index + match[0].search(/\s/u)
    const end = safeCut(text, due + border)
    yield text.slice(start, end)
    start = end
  }
  yield start === 0 ? text : text.slice(start)
}

/** Where stretches of white space alone, or of none, have to be cut. */
function* longStretchCuts(text: string): Generator<number> {
  if (text.length <= stretchCharactersMax) return
  // By code units, which borders of white space are the same in: read by characters, whose number of units differs, the
  // expression keeps a place to come back to for each, and 64 MiB of those are a fault. 8 million letters had as many.
  const stretches = /\s+|\S+/g
  for (const { 0: stretch, index } of text.matchAll(stretches)) {
    let start = 0
    while (stretch.length - start > stretchCharactersMax) {
      start = stretchCut(stretch, start)
      yield index + start
    }
  }
}

/** The last change of the kind of characters that is near enough, or the longest stretch there may be. */
function stretchCut(stretch: string, start: number): number {
  const end = start + stretchCharactersMax
  const from = end - borderSearchCharacters
  const changes = /\p{L}(?=[^\p{L}\p{M}])|\p{N}(?=[^\p{N}])|[^\p{L}\p{M}\p{N}](?=[\p{L}\p{N}])/gu
  let cut = end
  for (const { 0: character, index } of stretch.slice(from, end).matchAll(changes))
    cut = from + index + character.length
  return safeCut(stretch, cut)
}

/** Finds the end of a portion, which is never between the halves of one character. */
function safeCut(text: string, at: number): number {
  const isSplit = /[\ud800-\udbff]/.test(text[at - 1] ?? '') && /[\udc00-\udfff]/.test(text[at] ?? '')
  return isSplit ? at - 1 : at
}
