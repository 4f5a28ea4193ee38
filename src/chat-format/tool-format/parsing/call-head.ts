import { firstMatch, literalOf, matchLiteral, skipSpace, type Match } from './match-literal.ts'
import { readEnvelope } from './scan-json.ts'
import type { CallPiece, DerivedNotation, ToolFormat } from '../tool-format.ts'

/** The formats that are derived rather than written by hand. */
export type DerivedFormat = ToolFormat & { readonly notation: DerivedNotation }

/** A recognised call; `arguments` is null where they begin at `end` and are still to be read. */
export type CallHead = {
  readonly name: string
  readonly id: string | null
  readonly arguments: string | null
  readonly end: number
}

/** Nothing longer can be a name, and waiting for one ends here. */
const nameLengthMax = 256

/** The texts a call begins with: the first one may open a section, the last stands inside one. */
export function openingsOf({ section, notation }: DerivedFormat): readonly string[] {
  // The blank allows for white space that the template does not write there.
  const whole = `${section.open} ${notation.open}`.trim()
  const inner = notation.open.trim()
  return inner === whole || inner === '' ? [whole] : [whole, inner]
}

/** Recognises the beginning of a call up to its arguments. */
export function matchHead(
  format: DerivedFormat,
  text: string,
  at: number,
  isInside: boolean,
): CallHead | 'more' | null {
  const openings = isInside ? [format.notation.open.trim()] : openingsOf(format)
  let result: 'more' | null = null
  for (const opening of openings) {
    const end = matchLiteral(text, at, opening)
    const head = typeof end === 'number' ? matchName(format.notation, text, end) : end
    if (head !== null && head !== 'more') return head
    result = head ?? result
  }
  return result
}

function matchName(notation: DerivedFormat['notation'], text: string, at: number): CallHead | 'more' | null {
  switch (notation.kind) {
    case 'envelope':
      return readEnvelope(text, at, notation)
    case 'marked':
      return matchPieces(notation.pieces, text, at)
    case 'tagged': {
      const { nameEnd, parameter, close } = notation
      const start = skipSpace(text, at)
      const found = matchUntil(text, start, (index) => {
        const behind = literalOf(nameEnd, text.slice(start, index))
        const nexts = [parameter.open, close].map((next) => `${behind} ${next}`)
        const follows = nexts.map((literal) => matchLiteral(text, index, literal))
        const end = firstMatch(follows)
        return typeof end === 'number' ? (matchLiteral(text, index, behind) as number) : end
      })
      return typeof found === 'object' && found !== null
        ? { name: found.value, id: null, arguments: null, end: found.end }
        : found
    }
  }
}

/** The pieces before the arguments, each slot ended by the literal that follows it. */
function matchPieces(pieces: readonly CallPiece[], text: string, at: number): CallHead | 'more' | null {
  const slots: { name: string | null; id: string | null } = { name: null, id: null }
  let position = at
  for (const [index, piece] of pieces.entries()) {
    if (piece.kind === 'arguments') break
    if (piece.kind === 'literal') {
      const end = matchLiteral(text, position, piece.text)
      if (typeof end !== 'number') return end
      position = end
      continue
    }
    position = skipSpace(text, position)
    const found = matchUntil(text, position, (end) => matchFollowing(pieces, index + 1, text, end))
    if (found === null || found === 'more') return found
    if (piece.kind === 'name' || piece.kind === 'id') slots[piece.kind] = found.value
    position = found.valueEnd
  }
  const end = skipSpace(text, position)
  if (end >= text.length) return 'more'
  return slots.name === null || text[end] !== '{' ? null : { name: slots.name, id: slots.id, arguments: null, end }
}

/** The literal after a slot; where it begins with a number that counts, its digits come first. */
function matchFollowing(pieces: readonly CallPiece[], from: number, text: string, at: number): Match {
  let position = at
  for (const piece of pieces.slice(from)) {
    if (piece.kind === 'literal') {
      const end = matchLiteral(text, position, piece.text)
      if (typeof end !== 'number') return end
      position = end
    } else if (piece.kind === 'index') {
      const digits = /\d*/uy
      digits.lastIndex = position
      position += digits.exec(text)?.[0].length ?? 0
    } else if (piece.kind === 'arguments') {
      position = skipSpace(text, position)
      return position >= text.length ? 'more' : text[position] === '{' ? position : null
    } else return position
  }
  return position
}

/** Reads a name: the shortest run without white space that something known follows. */
function matchUntil(text: string, start: number, follows: (index: number) => Match) {
  for (let index = start; index <= text.length; index++) {
    if (index > start) {
      const end = follows(index)
      if (typeof end === 'number') return { value: text.slice(start, index), valueEnd: index, end }
      if (end === 'more') return 'more'
    }
    if (index === text.length) return 'more'
    if (index - start > nameLengthMax || /\s/u.test(text[index] ?? '')) return null
  }
  return 'more'
}
