import type { GrammarBuilder } from './grammar-builder.ts'

/** From `min` to `max`, without leading zeros; both are at least 0. The size grows with the square of the digits. */
export function naturalRange(builder: GrammarBuilder, min: bigint, max: bigint): string {
  if (min === 0n && max === 0n) return '"0"'
  const alternatives: string[] = min === 0n ? ['"0"'] : []
  const from = min === 0n ? 1n : min
  const low = from.toString()
  const high = max.toString()
  if (low.length === high.length) alternatives.push(...sameLength(builder, low, high))
  else {
    const isLowRound = /^10*$/.test(low)
    const isHighRound = /^9*$/.test(high)
    if (!isLowRound) alternatives.push(...sameLength(builder, low, '9'.repeat(low.length)))
    const shortest = isLowRound ? low.length : low.length + 1
    const longest = isHighRound ? high.length : high.length - 1
    if (shortest <= longest) alternatives.push(`[1-9] ${anyDigits(shortest - 1, longest - 1)}`.trimEnd())
    if (!isHighRound) alternatives.push(...sameLength(builder, `1${'0'.repeat(high.length - 1)}`, high))
  }
  return builder.rule('range', alternatives.join(' | '))
}

/**
 * Digit strings of one length that lie between two others.
 *
 * After the digits both begin with, a digit strictly between the two bounds
 * leaves the rest free; along a bound itself, each digit may be left once.
 */
function sameLength(builder: GrammarBuilder, low: string, high: string): string[] {
  const common = commonLength(low, high)
  if (common === low.length) return [builder.literal(low)]
  const rest = low.length - common - 1
  const prefix = low.slice(0, common)
  const first = digitAt(low, common)
  const last = digitAt(high, common)
  const lowTail = low.slice(common + 1)
  const highTail = high.slice(common + 1)
  const isLowFree = /^0*$/.test(lowTail)
  const isHighFree = /^9*$/.test(highTail)
  return [
    ...(isLowFree ? [] : alongBound(builder, prefix + first, lowTail, 'up')),
    ...withDigit(builder, prefix, [first + (isLowFree ? 0 : 1), last - (isHighFree ? 0 : 1)], anyDigits(rest, rest)),
    ...(isHighFree ? [] : alongBound(builder, prefix + last, highTail, 'down')),
  ]
}

function alongBound(builder: GrammarBuilder, prefix: string, tail: string, direction: 'up' | 'down'): string[] {
  const alternatives = [builder.literal(prefix + tail)]
  for (let index = 0; index < tail.length; index++) {
    const digit = digitAt(tail, index)
    const digits: [number, number] = direction === 'up' ? [digit + 1, 9] : [0, digit - 1]
    const rest = tail.length - index - 1
    alternatives.push(...withDigit(builder, prefix + tail.slice(0, index), digits, anyDigits(rest, rest)))
  }
  return alternatives
}

/** A prefix, a digit of a range and what follows; nothing where the range is empty. */
export function withDigit(
  builder: GrammarBuilder,
  prefix: string,
  [first, last]: readonly [number, number],
  tail: string,
): string[] {
  if (first > last) return []
  const digit = first === last ? `"${first}"` : `[${first}-${last}]`
  return [[...(prefix === '' ? [] : [builder.literal(prefix)]), digit, tail].join(' ').trimEnd()]
}

export function anyDigits(min: number, max: number): string {
  if (max <= 0) return ''
  if (min === max) return max === 1 ? '[0-9]' : `[0-9]{${max}}`
  return `[0-9]{${min},${max}}`
}

export function commonLength(left: string, right: string): number {
  let length = 0
  while (length < left.length && length < right.length && left[length] === right[length]) length += 1
  return length
}

export function digitAt(digits: string, index: number): number {
  return Number(digits[index] ?? '0')
}
