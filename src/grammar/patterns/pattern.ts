// Reads the regular expressions of JSON Schema: the part of ECMAScript's dialect
// that describes a regular language. What looks around in the text (`\b`, and
// look-ahead other than at the very start) or back at it is refused.
//
//     pattern     = choice
//     choice      = sequence ("|" sequence)*
//     sequence    = (term quantifier?)*
//     term        = "^" | "$" | "." | class | escape | group | character

import type { CodePointSet } from './code-points.ts'
import { notLineEnd, single } from './code-points.ts'
import { readClass, readEscape } from './pattern-class.ts'
import { createPatternReader, type PatternReader } from './pattern-reader.ts'
import { repetitionMax } from '../schema/schema-limits.ts'

export type PatternNode =
  | { readonly kind: 'set'; readonly set: CodePointSet }
  | { readonly kind: 'sequence' | 'choice'; readonly items: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly item: PatternNode; readonly min: number; readonly max: number }
  /** The beginning or the end of the text. */
  | { readonly kind: 'start' | 'end' }

export type Pattern = {
  readonly node: PatternNode
  /** Look-ahead at the beginning: what the text must, or must not, begin with as well. */
  readonly conditions: readonly { readonly node: PatternNode; readonly isNegated: boolean }[]
}

/** Groups inside one another; no pattern written by hand comes near. */
const groupDepthMax = 8

/** Throws a `PatternError` with a message for the caller. */
export function parsePattern(source: string): Pattern {
  const reader = createPatternReader(source)
  const conditions: { node: PatternNode; isNegated: boolean }[] = []
  const isAnchored = reader.take('^')
  while (isAnchored && (reader.isAt('(?=') || reader.isAt('(?!'))) {
    const isNegated = reader.isAt('(?!')
    reader.take(isNegated ? '(?!' : '(?=')
    conditions.push({ node: readChoice(reader, 1), isNegated })
    reader.expect(')')
  }
  const rest = readChoice(reader, 0)
  if (!reader.isDone()) throw reader.error('unbalanced ")"')
  if (!isAnchored) return { node: rest, conditions }
  const isOneOfSeveral = rest.kind === 'choice'
  if (isOneOfSeveral && conditions.length > 0) throw reader.error('look-ahead in one of several alternatives')
  return { node: anchorFirst(rest), conditions }
}

/** Gives the `^` that was read first back to the alternative it belongs to. */
function anchorFirst(node: PatternNode): PatternNode {
  const start: PatternNode = { kind: 'start' }
  if (node.kind !== 'choice') return { kind: 'sequence', items: [start, node] }
  const [first, ...others] = node.items
  return first === undefined ? start : { kind: 'choice', items: [anchorFirst(first), ...others] }
}

function readChoice(reader: PatternReader, depth: number): PatternNode {
  if (depth > groupDepthMax) throw reader.tooLarge(`groups nested deeper than ${groupDepthMax}`)
  const items = [readSequence(reader, depth)]
  while (reader.take('|')) items.push(readSequence(reader, depth))
  const [only] = items
  return items.length === 1 && only !== undefined ? only : { kind: 'choice', items }
}

function readSequence(reader: PatternReader, depth: number): PatternNode {
  const items: PatternNode[] = []
  while (!reader.isDone() && !reader.isAt('|') && !reader.isAt(')')) {
    items.push(readQuantified(reader, readTerm(reader, depth)))
  }
  return { kind: 'sequence', items }
}

function readTerm(reader: PatternReader, depth: number): PatternNode {
  if (reader.isAt('(')) return readGroup(reader, depth)
  if (reader.isAt('*') || reader.isAt('+') || reader.isAt('?')) throw reader.error('nothing to repeat')
  if (reader.take('^')) return { kind: 'start' }
  if (reader.take('$')) return { kind: 'end' }
  if (reader.take('.')) return { kind: 'set', set: notLineEnd }
  if (reader.take('[')) return { kind: 'set', set: readClass(reader) }
  if (reader.take('\\')) return { kind: 'set', set: readEscape(reader, 'outside') }
  return { kind: 'set', set: single(reader.next()) }
}

function readGroup(reader: PatternReader, depth: number): PatternNode {
  for (const look of ['(?=', '(?!', '(?<=', '(?<!']) {
    if (reader.isAt(look)) throw reader.error('look-ahead and look-behind are not supported here')
  }
  if (reader.take('(?<')) {
    while (!reader.isDone() && !reader.isAt('>')) reader.next()
    reader.expect('>')
  } else if (!reader.take('(?:')) {
    reader.take('(')
    if (reader.isAt('?')) throw reader.error('this kind of group is not supported')
  }
  const inner = readChoice(reader, depth + 1)
  reader.expect(')')
  return inner
}

function readQuantified(reader: PatternReader, item: PatternNode): PatternNode {
  const bounds = readBounds(reader)
  if (bounds === null) return item
  if (item.kind === 'start' || item.kind === 'end') throw reader.error('nothing to repeat')
  // Lazy or not, the same texts match.
  reader.take('?')
  if (readBounds(reader) !== null) throw reader.error('nothing to repeat')
  const { min, max } = bounds
  const counts = Number.isFinite(max) ? [min, max] : [min]
  if (counts.some((count) => count > repetitionMax)) throw reader.tooLarge(`repeats more than ${repetitionMax} times`)
  if (min > max) throw reader.error('a repetition whose bounds are out of order')
  return { kind: 'repeat', item, min, max }
}

function readBounds(reader: PatternReader): { min: number; max: number } | null {
  if (reader.take('*')) return { min: 0, max: Infinity }
  if (reader.take('+')) return { min: 1, max: Infinity }
  if (reader.take('?')) return { min: 0, max: 1 }
  const match = reader.takeMatch(/\{([0-9]+)(?:(,)([0-9]*))?\}/y)
  if (match === null) return null
  const [, min = '', separator = '', max = ''] = match
  if (separator === '') return { min: Number(min), max: Number(min) }
  return { min: Number(min), max: max === '' ? Infinity : Number(max) }
}
