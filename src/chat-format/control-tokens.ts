// Text from a client must never become a control token: whoever could write
// `<|im_start|>system` into a message would speak with the system's voice. Special
// tokens are therefore found here, in the rendered prompt, and not by the tokenizer.
// A client's text goes through the template in a code without the characters that such
// tokens begin and end with, so what is found is the template's; docs/decisions/control-tokens.md
// says why. It also keeps the cost in proportion: the native tokenizer takes time that
// grows with the square of the special tokens in a text.

import { createTextCode, standInsMax, textOf, unitsOf } from './client-text/text-code.ts'
import { TokenFinder, type Found } from './client-text/token-finder.ts'
import { tokenize } from '@huggingface/jinja'

export type SpecialToken = {
  readonly text: string
  readonly token: number
  /** A client may not write it: it is a control token, or the template gives it a meaning. */
  readonly isReserved: boolean
}

export type PromptPiece =
  | { readonly kind: 'special'; readonly token: number }
  | { readonly kind: 'text'; readonly text: string }

export interface ControlTokens {
  /** A client's text in a form of which no template can make a reserved token. */
  protect(text: string): string
  /** A rendered prompt as it will be tokenized: each protected text is what the client wrote. */
  plain(prompt: string): string
  /** Cuts a rendered prompt at its special tokens, and where a client's text only looks like one. */
  split(prompt: string): PromptPiece[]
  /** The text that was cut into pieces, as `plain` gives it. */
  join(pieces: readonly PromptPiece[]): string
}

export function createControlTokens(all: readonly SpecialToken[], templateSource: string): ControlTokens {
  // One character alone is no marker.
  const tokens = all.filter(({ text }) => text.length > 1)
  const reserved = tokens.filter(({ isReserved }) => isReserved).map(({ text }) => text)
  const kept = chooseKept(reserved)
  const code = createTextCode({ kept, survivesEscapes: /ensure_ascii\s*=\s*true/i.test(templateSource) })
  const completing = findCompletingTexts(reserved, templateSource)
  const completingMax = [...completing].reduce((longest, { length }) => Math.max(longest, length), 0)
  const written = new TokenFinder(reserved)
  const ids = new Map(tokens.map(({ text, token }) => [text, token]))
  const names = new Map(tokens.map(({ text, token }) => [token, text]))
  const cut = createCutter(tokens)
  const firsts = reserved.map((text) => text.charAt(0))
  const noteworthy = new RegExp(`[${[...new Set([...kept, ...firsts])].map(RegExp.escape).join('')}\\\\\ufdd0-\ufdef]`)
  const encode = (text: string) => {
    // Most texts hold none of these, and so it is asked in the fastest way there is.
    if (!noteworthy.test(text)) return text
    const units = unitsOf(text)
    return code.encode(units, findAll(written, text, units))
  }
  return {
    plain: (prompt) => textOf(code.decode(unitsOf(prompt))),
    protect(text) {
      const coded = encode(text)
      const core = text.trim()
      if (core.length > completingMax || !completing.has(core.toLowerCase())) return coded
      // Behind the core and not behind the text, which the template may trim.
      const end = coded.trimEnd().length
      return coded.slice(0, end) + code.border + coded.slice(end)
    },
    split(prompt) {
      const units = unitsOf(prompt)
      const pieces: PromptPiece[] = []
      let end = 0
      const next = () => written.nextRare(prompt, units, end)
      for (let found = next(); found !== null; found = next()) {
        cut(code.decode(units.subarray(end, found.start)), pieces)
        pieces.push({ kind: 'special', token: ids.get(prompt.slice(found.start, found.end)) ?? -1 })
        end = found.end
      }
      cut(code.decode(units.subarray(end)), pieces)
      return pieces
    },
    join: (pieces) => pieces.map((piece) => (piece.kind === 'text' ? piece.text : names.get(piece.token))).join(''),
  }
}

/**
 * The characters that reserved tokens begin and end with, white space and the like left aside.
 *
 * Letters, digits and what stands in names, references and quoted strings are left as they are:
 * templates ask for them (`type == 'string'`), and escape quotes. No known token has nothing else.
 */
function chooseKept(reserved: readonly string[]): string[] {
  const kept = new Set<string>()
  for (const text of reserved) {
    const characters = text.match(/[^\p{L}\p{N}\s"'\\_.\-/:,$#\u{10000}-\u{10ffff}]/gu) ?? []
    for (const character of [characters.at(0), characters.at(-1)]) {
      if (character !== undefined && kept.size < standInsMax) kept.add(character)
    }
  }
  return [...kept]
}

/**
 * Where reserved tokens are spelled in a client's text; those that overlap are one range.
 *
 * There the text is broken between any two characters. A template looks for such texts
 * (`'/think' in content`) and cuts them out; and there may be tokens in which no character is kept away.
 */
function findAll(finder: TokenFinder, text: string, units: Uint16Array): Found[] {
  const ranges: Found[] = []
  const next = (from: number) => finder.nextRare(text, units, from)
  for (let found = next(0); found !== null; found = next(found.start + 1)) {
    const { start, end } = found
    const last = ranges.at(-1)
    if (last === undefined || start >= last.end) ranges.push(found)
    else if (end > last.end) ranges[ranges.length - 1] = { start: last.start, end }
  }
  return ranges
}

/**
 * Adds a text that the template made no reserved token in.
 *
 * The tokenizer reads added words in any text, and some tokenizers merge characters into whatever entry
 * of the vocabulary they spell; so each reserved token in it is cut behind its first character. The other
 * special tokens are a client's to write.
 */
function createCutter(tokens: readonly SpecialToken[]): (units: Uint16Array, pieces: PromptPiece[]) => void {
  const free = new Map(tokens.filter(({ isReserved }) => !isReserved).map(({ text, token }) => [text, token]))
  const spellings = tokens.flatMap(({ text, isReserved }) => (isReserved ? spellingsOf(text) : [text]))
  const finder = new TokenFinder(spellings)
  return (units, pieces) => {
    const text = textOf(units)
    let start = 0
    const pushText = (end: number) => {
      if (end > start) pieces.push({ kind: 'text', text: text.slice(start, end) })
      start = end
    }
    const next = () => finder.nextRare(text, units, start)
    for (let found = next(); found !== null; found = next()) {
      const token = free.size === 0 ? undefined : free.get(text.slice(found.start, found.end))
      const isPair = (units[found.start] ?? 0) >>> 10 === highSurrogates
      if (token === undefined) pushText(found.start + (isPair ? 2 : 1))
      else {
        pushText(found.start)
        pieces.push({ kind: 'special', token })
        start = found.end
      }
    }
    pushText(units.length)
  }
}

/** The upper bits of the first half of a character that takes two units. */
const highSurrogates = 0xd800 >>> 10

/** Some vocabularies write a space as U+2581, and put one in front of each text. */
function spellingsOf(text: string): string[] {
  if (!text.includes('\u2581')) return [text]
  const spaced = text.replaceAll('\u2581', ' ')
  return [text, spaced, spaced.trim()].filter((spelling) => spelling.length > 1)
}

/**
 * What a client could write between two texts of the template to make a token of the three.
 *
 * A template that writes `'<' + key + '>'` would make `<think>` of a parameter named `think`,
 * though neither side wrote the token. All are in lower case: a filter may change the case.
 */
export function findCompletingTexts(tokens: readonly string[], templateSource: string): ReadonlySet<string> {
  const literals = literalsOf(templateSource)
  const isOpening = touches(literals, { reach: 'end' })
  const isClosing = touches(literals, { reach: 'start' })
  return new Set(
    tokens.flatMap((token) => {
      const cuts = Array.from({ length: Math.max(0, token.length - 1) }, (_, index) => index + 1)
      const ends = cuts.filter((cut) => isClosing(token.slice(cut)))
      const starts = ends.length === 0 ? [] : cuts.filter((cut) => isOpening(token.slice(0, cut)))
      return starts.flatMap((start) =>
        ends.filter((end) => end > start).map((end) => token.slice(start, end).toLowerCase()),
      )
    }),
  )
}

/** What a template writes on its own account, in pieces as they stand in its source. */
function literalsOf(templateSource: string): string[] {
  const lexed: readonly { readonly type: string; readonly value: string }[] = tokenize(templateSource, {
    lstrip_blocks: true,
    trim_blocks: true,
  })
  return lexed
    .filter(({ type }) => type === 'Text' || type === 'StringLiteral')
    .flatMap(({ value }) => [value, value.trim()])
    .filter((value) => value !== '')
}

/** Whether a text is the end (or start) of a literal, or ends (or starts) with a whole one. */
function touches(literals: readonly string[], { reach }: { readonly reach: 'start' | 'end' }) {
  const whole = new Set(literals)
  const parts = new Set<string>()
  const edge = (text: string, length: number) => (reach === 'end' ? text.slice(-length) : text.slice(0, length))
  for (const literal of literals) {
    for (let length = 1; length <= Math.min(literal.length, tokenLengthMax); length++) parts.add(edge(literal, length))
  }
  return (text: string) => {
    if (parts.has(text)) return true
    for (let length = 1; length <= text.length; length++) if (whole.has(edge(text, length))) return true
    return false
  }
}

/** No control token of a known model is longer than 50 characters. */
const tokenLengthMax = 128
