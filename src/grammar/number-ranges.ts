// Digit ranges: the whole and decimal numbers between two bounds, as alternatives of digits.

import { quote } from '../lib/gbnf.ts'
import type { GrammarBuilder } from './grammar-builder.ts'
import type { Bound } from './number-bounds.ts'

/** A double has no more digits before its point; a bound beyond them bounds nothing. */
export const wholeDigitsMax = 16

/** A bound in decimal digits. The fraction has no zeros at its end. */
export type Decimal = {
  readonly isNegative: boolean
  readonly whole: bigint
  readonly fraction: string
  readonly isExclusive: boolean
}

export function toDecimal({ value, isExclusive }: Bound): Decimal {
  const [mantissa = '0', exponent = '0'] = Math.abs(value).toExponential().split('e')
  const digits = mantissa.replace('.', '')
  const point = Number(exponent) + 1
  const padded = point > 0 ? digits.padEnd(point, '0') : '0'.repeat(1 - point) + digits
  const place = Math.max(1, point)
  const fraction = withoutZeros(padded.slice(place))
  return { isNegative: value < 0, whole: BigInt(padded.slice(0, place)), fraction, isExclusive }
}

export type Magnitudes = {
  /** Null for zero itself; its sign does not count. */
  readonly low: Decimal | null
  readonly high: Decimal | null
  readonly fractionMax: number
}

/** The alternatives for the numbers without a sign between two bounds. */
export function magnitudeRange(builder: GrammarBuilder, { low, high, fractionMax }: Magnitudes): string[] {
  const from = low ?? { isNegative: false, whole: 0n, fraction: '', isExclusive: false }
  const isFromFree = from.fraction === '' && !from.isExclusive
  if (high !== null && high.whole === from.whole) {
    const edges = fractionsBetween(fractionMax, from, high)
    return withWhole(from.whole, edges)
  }
  const alternatives: string[] = []
  if (!isFromFree) {
    const edges = digitsAtLeast(fractionMax, '', from).map(afterPoint)
    alternatives.push(...withWhole(from.whole, edges))
  }
  const first = isFromFree ? from.whole : from.whole + 1n
  const last = high === null ? 10n ** BigInt(wholeDigitsMax) - 1n : high.whole - 1n
  const free = fractionMax === 0 ? '' : ` ("." ${anyDigits(1, fractionMax)})?`
  if (first <= last) alternatives.push(naturalRange(builder, first, last) + free)
  if (high !== null) alternatives.push(...withWhole(high.whole, fractionsUpTo(fractionMax, high)))
  return alternatives
}

/** Digits after a point, with whether the number they end may be reached. */
type Edge = Pick<Decimal, 'fraction' | 'isExclusive'>

function withWhole(whole: bigint, fractions: readonly string[]): string[] {
  return fractions.map((fraction) => `${quote(whole.toString())} ${fraction}`.trimEnd())
}

function afterPoint(digits: string): string {
  return `"." ${digits}`
}

/** From no fraction at all up to a bound's. */
function fractionsUpTo(fractionMax: number, high: Edge): string[] {
  if (high.fraction === '') return high.isExclusive ? [] : ['', '".0"']
  return ['', ...digitsAtMost(fractionMax, '', high).map(afterPoint)]
}

function fractionsBetween(fractionMax: number, low: Edge, high: Edge): string[] {
  if (low.fraction === high.fraction) return [low.fraction === '' ? '' : `".${low.fraction}"`]
  if (low.fraction === '' && !low.isExclusive) return fractionsUpTo(fractionMax, high)
  const length = Math.max(low.fraction.length, high.fraction.length)
  const lowDigits = low.fraction.padEnd(length, '0')
  const highDigits = high.fraction.padEnd(length, '0')
  const common = commonLength(lowDigits, highDigits)
  const prefix = lowDigits.slice(0, common)
  const between: [number, number] = [digitAt(lowDigits, common) + 1, digitAt(highDigits, common) - 1]
  const rest = anyDigits(0, fractionMax - common - 1)
  const lowTail = { fraction: withoutZeros(lowDigits.slice(common + 1)), isExclusive: low.isExclusive }
  const highTail = { fraction: withoutZeros(highDigits.slice(common + 1)), isExclusive: high.isExclusive }
  return [
    ...digitsAtLeast(fractionMax, lowDigits.slice(0, common + 1), lowTail),
    ...withDigit(prefix, between, rest),
    ...digitsAtMost(fractionMax, highDigits.slice(0, common + 1), highTail),
  ].map(afterPoint)
}

/** Digits after `prefix` that are at least a bound's: along it, then greater, then free. */
function digitsAtLeast(fractionMax: number, prefix: string, bound: Edge): string[] {
  const full = prefix + bound.fraction
  const alternatives: string[] = []
  for (let length = prefix.length; length < full.length; length++) {
    const digits: [number, number] = [digitAt(full, length) + 1, 9]
    alternatives.push(...withDigit(full.slice(0, length), digits, anyDigits(0, fractionMax - length - 1)))
  }
  const start = full === '' ? [] : [quote(full)]
  if (!bound.isExclusive) alternatives.push([...start, anyDigits(0, fractionMax - full.length)].join(' ').trimEnd())
  else if (fractionMax > full.length) {
    const between = anyDigits(0, fractionMax - full.length - 1)
    alternatives.push([...start, between, '[1-9]'].filter((piece) => piece !== '').join(' '))
  }
  return alternatives
}

/** Digits after `prefix` that are at most a bound's. Fewer digits than the bound has are always less. */
function digitsAtMost(fractionMax: number, prefix: string, bound: Edge): string[] {
  const full = prefix + bound.fraction
  const alternatives: string[] = []
  for (let length = prefix.length; length < full.length; length++) {
    const digits: [number, number] = [0, digitAt(full, length) - 1]
    alternatives.push(...withDigit(full.slice(0, length), digits, anyDigits(0, fractionMax - length - 1)))
    if (length > 0) alternatives.push(quote(full.slice(0, length)))
  }
  if (!bound.isExclusive && full !== '') alternatives.push(quote(full))
  return alternatives
}

function withoutZeros(digits: string): string {
  return digits.replace(/0+$/, '')
}

/** From `min` to `max`, without leading zeros; both are at least 0. The size grows with the square of the digits. */
export function naturalRange(builder: GrammarBuilder, min: bigint, max: bigint): string {
  if (min === 0n && max === 0n) return '"0"'
  const alternatives: string[] = min === 0n ? ['"0"'] : []
  const from = min === 0n ? 1n : min
  const low = from.toString()
  const high = max.toString()
  if (low.length === high.length) alternatives.push(...sameLength(low, high))
  else {
    const isLowRound = /^10*$/.test(low)
    const isHighRound = /^9*$/.test(high)
    if (!isLowRound) alternatives.push(...sameLength(low, '9'.repeat(low.length)))
    const shortest = isLowRound ? low.length : low.length + 1
    const longest = isHighRound ? high.length : high.length - 1
    if (shortest <= longest) alternatives.push(`[1-9] ${anyDigits(shortest - 1, longest - 1)}`.trimEnd())
    if (!isHighRound) alternatives.push(...sameLength(`1${'0'.repeat(high.length - 1)}`, high))
  }
  return builder.rule('range', alternatives.join(' | '))
}

/**
 * Digit strings of one length that lie between two others.
 *
 * After the digits both begin with, a digit strictly between the two bounds
 * leaves the rest free; along a bound itself, each digit may be left once.
 */
function sameLength(low: string, high: string): string[] {
  const common = commonLength(low, high)
  if (common === low.length) return [quote(low)]
  const rest = low.length - common - 1
  const prefix = low.slice(0, common)
  const first = digitAt(low, common)
  const last = digitAt(high, common)
  const lowTail = low.slice(common + 1)
  const highTail = high.slice(common + 1)
  const isLowFree = /^0*$/.test(lowTail)
  const isHighFree = /^9*$/.test(highTail)
  return [
    ...(isLowFree ? [] : alongBound(prefix + first, lowTail, 'up')),
    ...withDigit(prefix, [first + (isLowFree ? 0 : 1), last - (isHighFree ? 0 : 1)], anyDigits(rest, rest)),
    ...(isHighFree ? [] : alongBound(prefix + last, highTail, 'down')),
  ]
}

function alongBound(prefix: string, tail: string, direction: 'up' | 'down'): string[] {
  const alternatives = [quote(prefix + tail)]
  for (let index = 0; index < tail.length; index++) {
    const digit = digitAt(tail, index)
    const digits: [number, number] = direction === 'up' ? [digit + 1, 9] : [0, digit - 1]
    const rest = tail.length - index - 1
    alternatives.push(...withDigit(prefix + tail.slice(0, index), digits, anyDigits(rest, rest)))
  }
  return alternatives
}

/** A prefix, a digit of a range and what follows; nothing where the range is empty. */
function withDigit(prefix: string, [first, last]: readonly [number, number], tail: string): string[] {
  if (first > last) return []
  const digit = first === last ? `"${first}"` : `[${first}-${last}]`
  return [[...(prefix === '' ? [] : [quote(prefix)]), digit, tail].join(' ').trimEnd()]
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
