import {
  classEscapes,
  type CodePointRange,
  type CodePointSet,
  codePointSet,
  complement,
  single,
} from './code-points.ts'
import type { PatternReader } from './pattern-reader.ts'

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
