/** Inclusive range of code points. */
export type CodePointRange = readonly [first: number, last: number]
/** In order, without overlap, and with a gap between neighbours. */
export type CodePointSet = readonly CodePointRange[]

const lastCodePoint = 0x10ffff
const surrogates: CodePointRange = [0xd800, 0xdfff]

export function codePointSet(ranges: readonly CodePointRange[]): CodePointSet {
  const merged: [number, number][] = []
  for (const [first, last] of ranges.toSorted((left, right) => left[0] - right[0])) {
    const previous = merged.at(-1)
    if (previous !== undefined && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last)
    else merged.push([first, last])
  }
  return merged
}

/** Every code point that is not in the set; surrogates, which no text holds, are in neither. */
export function complement(set: CodePointSet): CodePointSet {
  const inverse: CodePointRange[] = []
  let next = 0
  for (const [first, last] of codePointSet([...set, surrogates])) {
    if (first > next) inverse.push([next, first - 1])
    next = last + 1
  }
  if (next <= lastCodePoint) inverse.push([next, lastCodePoint])
  return inverse
}

export function single(character: string): CodePointSet {
  const point = character.codePointAt(0) ?? 0
  return [[point, point]]
}

export function includes(set: CodePointSet, point: number): boolean {
  return set.some(([first, last]) => point >= first && point <= last)
}

export const everything = complement([])
const digits: CodePointSet = [[0x30, 0x39]]
const wordCharacters = codePointSet([...digits, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]])
const lineEnds = codePointSet([
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
])
// White space as ECMAScript counts it: JSON Schema's patterns are of that dialect.
const whiteSpace = codePointSet([
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
])

/** What `.` stands for. */
export const notLineEnd = complement(lineEnds)

export const classEscapes: ReadonlyMap<string, CodePointSet> = new Map([
  ['d', digits],
  ['D', complement(digits)],
  ['w', wordCharacters],
  ['W', complement(wordCharacters)],
  ['s', whiteSpace],
  ['S', complement(whiteSpace)],
])
