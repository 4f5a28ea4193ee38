// Reads the regular expressions of JSON Schema: the part of ECMAScript's dialect
// that describes a regular language. What looks around in the text (`\b`, and
// look-ahead other than at the very start) or back at it is refused.
//
//     pattern     = choice
//     choice      = sequence ("|" sequence)*
//     sequence    = (term quantifier?)*
//     term        = "^" | "$" | "." | class | escape | group | character

import {
  type CodePointSet,
  notLineEnd,
  single,
  classEscapes,
  type CodePointRange,
  codePointSet,
  complement,
} from './code-points.ts'
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

const characterEscapes: ReadonlyMap<string, string> = new Map([
  ['t', '\t'],
  ['n', '\n'],
  ['v', '\v'],
  ['f', '\f'],
  ['r', '\r'],
])

/** The rest of a character class; its `[` has been taken. */
export function readClass(reader: PatternReader): CodePointSet {
  const isNegated = reader.take('^')
  const ranges: CodePointRange[] = []
  while (!reader.take(']')) {
    const first = readMember(reader)
    if (!reader.isAt('-') || reader.isAt('-]')) {
      ranges.push(...first)
      continue
    }
    reader.take('-')
    ranges.push(...readRange(reader, first))
  }
  const set = codePointSet(ranges)
  return isNegated ? complement(set) : set
}

/** From `first` to the member that follows; beside a set such as `\w`, the hyphen is a character of its own. */
function readRange(reader: PatternReader, first: CodePointSet): CodePointSet {
  const last = readMember(reader)
  const from = onlyPoint(first)
  const to = onlyPoint(last)
  if (from === null || to === null) return [...first, ...single('-'), ...last]
  if (from > to) throw reader.error('a range that is out of order')
  return [[from, to]]
}

function readMember(reader: PatternReader): CodePointSet {
  return reader.take('\\') ? readEscape(reader, 'class') : single(reader.next())
}

function onlyPoint(set: CodePointSet): number | null {
  const [range] = set
  return set.length === 1 && range !== undefined && range[0] === range[1] ? range[0] : null
}

/** What an escape stands for; its backslash has been taken. */
export function readEscape(reader: PatternReader, place: 'class' | 'outside'): CodePointSet {
  const hex = reader.takeMatch(/x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}/y)
  if (hex !== null) return fromPoint(reader, Number.parseInt(hex.slice(1).join(''), 16))
  const character = reader.next()
  const set = classEscapes.get(character)
  if (set !== undefined) return set
  const isZero = character === '0' && reader.takeMatch(/(?=[0-9])/y) === null
  const control = isZero ? '\0' : characterEscapes.get(character)
  if (control !== undefined) return single(control)
  if (place === 'class' && character === 'b') return single('\b')
  if (/[0-9k]/.test(character)) throw reader.error('references to groups are not supported')
  if (/[a-zA-Z]/.test(character)) throw reader.error(`"\\${character}" is not supported`)
  return single(character)
}

function fromPoint(reader: PatternReader, point: number): CodePointSet {
  const isSurrogate = point >= 0xd800 && point <= 0xdfff
  if (point > 0x10ffff || isSurrogate) throw reader.error('an escape that is no character')
  return [[point, point]]
}
