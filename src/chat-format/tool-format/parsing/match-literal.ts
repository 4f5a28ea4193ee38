import { indexSlot, nameSlot } from '../tool-format.ts'

/** Where a match ends; `more` where the text ends before it is decided; null where it fails. */
export type Match = number | 'more' | null

const space = /\s/u

export function skipSpace(text: string, at: number): number {
  let index = at
  while (index < text.length && space.test(text[index] ?? '')) index++
  return index
}

/**
 * Matches a literal at a place, white space loosely: where the literal has some,
 * the text may have any or none, since models are careless with line breaks.
 * White space at the literal's end never asks for more text.
 */
export function matchLiteral(text: string, at: number, literal: string): Match {
  let position = at
  const end = literal.trimEnd().length
  for (let index = 0; index < end; index++) {
    const expected = literal[index] ?? ''
    if (space.test(expected)) {
      position = skipSpace(text, position)
      continue
    }
    if (position >= text.length) return 'more'
    if (expected === indexSlot) {
      const digits = /\d*/uy
      digits.lastIndex = position
      const { length } = digits.exec(text)?.[0] ?? ''
      if (length === 0) return null
      position += length
      continue
    }
    if (text[position] !== expected) return null
    position++
  }
  return position
}

/** The first of several matches that succeeds, or whether one of them still might. */
export function firstMatch(matches: readonly Match[]): Match {
  const found = matches.find((match) => typeof match === 'number')
  if (found !== undefined) return found
  return matches.includes('more') ? 'more' : null
}

/** A literal with the name put in that it repeats. */
export function literalOf(literal: string, name: string): string {
  return literal.includes(nameSlot) ? literal.replaceAll(nameSlot, () => name) : literal
}
