// How texts and sets of characters are written in GBNF, the notation of llama.cpp's grammars, so that other readers of it take
// them for the same. xgrammar reads any number of digits behind \x, llguidance loses the zeros behind \u and \U, and before 1.9 it
// has no \x in a text. A character stands for itself where it can; a control character without a letter of its own is a class.

type Range = readonly [first: number, last: number]

/** A text in quotes, which may be repeated as a whole. */
export function quote(text: string): string {
  // What stands between two parts that can be quoted is at an odd place.
  const written = text.split(unquoted).flatMap((part, at) => {
    if (at % 2 === 1) return `[${byNumber(part.charCodeAt(0))}]`
    return part === '' ? [] : `"${escape(part)}"`
  })
  if (written.length === 0) return '""'
  return written.length === 1 ? written.join('') : `(${written.join(' ')})`
}

/** Asking Unicode for the control characters takes many times as long. */
const unquoted = /([^ -~\n\r\t\u00a0-\uffff])/

const letters: Readonly<Record<string, string>> = { '\n': 'n', '\r': 'r', '\t': 't' }

function escape(text: string): string {
  return text.replaceAll(/["\\\n\r\t]/g, (character) => `\\${letters[character] ?? character}`)
}

/** One character of some ranges, which are sorted and apart; negated, one of none of them. */
export function characterClass(ranges: readonly Range[], isNegated = false): string {
  const [only] = ranges
  if (!isNegated && ranges.length === 1 && only !== undefined && only[0] === only[1])
    return quote(String.fromCodePoint(only[0]))
  const body = ranges
    .map(withoutMarks)
    .filter(([first, last]) => first <= last)
    .toSorted((one, other) => numbersIn(one) - numbersIn(other))
    .map(rangeText)
    .join('')
  const marks = [
    ...(ranges.some(([first]) => first === circumflex) ? ['^'] : []),
    ...(ranges.some((range) => range.includes(hyphen)) ? ['-'] : []),
  ]
  // At the beginning a circumflex negates; a hyphen is itself there and at the end.
  if (isNegated || body !== '') return `[${isNegated ? '^' : ''}${body}${marks.join('')}]`
  return `[${marks.toReversed().join('')}]`
}

const circumflex = 0x5e
const hyphen = 0x2d

/** A range without an end that means something else where it stands, and is written last. */
function withoutMarks([first, last]: Range): Range {
  return [first === circumflex || first === hyphen ? first + 1 : first, last === hyphen ? last - 1 : last]
}

/** Ranges that begin with what may be a digit stand before those that end by number. */
function numbersIn([first, last]: Range): number {
  return isControl(first) ? 2 : isControl(last) ? 1 : 0
}

function rangeText([first, last]: Range): string {
  return first === last ? pointText(first) : `${pointText(first)}-${pointText(last)}`
}

function pointText(point: number): string {
  if (isControl(point)) return byNumber(point)
  const character = String.fromCodePoint(point)
  return /[[\]\\]/.test(character) ? `\\${character}` : character
}

function isControl(point: number): boolean {
  return point < 0x20 || (point >= 0x7f && point < 0xa0)
}

function byNumber(point: number): string {
  return `\\x${point.toString(16).toUpperCase().padStart(2, '0')}`
}
