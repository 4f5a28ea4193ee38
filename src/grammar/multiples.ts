import { eachKeyword, faultAt, type Part } from './schema/schema-part.ts'
import type { Context } from './context.ts'
import { integerFormatsOf } from './number-bounds.ts'
import { type Decimal, toDecimal } from './number-ranges.ts'

/**
 * The largest power of ten that values must be multiples of, as its exponent; null where there is none.
 *
 * Other factors cannot be read off the digits.
 */
export function multipleExponent({ relax }: Pick<Context, 'relax'>, parts: readonly Part[]): number | null {
  const exponents = eachFactor(parts).flatMap(({ part, factor }) => {
    const [, exponent] = /^1e([+-][0-9]+)$/.exec(factor.toExponential()) ?? []
    if (exponent !== undefined && Math.abs(Number(exponent)) <= exponentMax) return [Number(exponent)]
    relax(part, 'multipleOf', 'only 1 and other powers of ten are supported')
    return []
  })
  if (integerFormatsOf(parts).length > 0) exponents.push(0)
  return exponents.length === 0 ? null : Math.max(...exponents)
}

/** The digits a generated number may have on either side of its point stop well before. */
const exponentMax = 15

/** Whether a listed number is a multiple of every factor, in decimals as JSON writes both: doubles lose 4.1 / 0.01. */
export function isMultiple(parts: readonly Part[], value: number): boolean {
  // A text such as 1e999 is infinity to a double.
  if (!Number.isFinite(value)) return true
  return eachFactor(parts).every(({ factor }) => {
    const [dividend, divisor] = [decimalOf(value), decimalOf(factor)]
    const places = Math.max(dividend.fraction.length, divisor.fraction.length)
    const inPlaces = ({ whole, fraction }: Decimal) => BigInt(whole + fraction.padEnd(places, '0'))
    return inPlaces(dividend) % inPlaces(divisor) === 0n
  })
}

function decimalOf(value: number): Decimal {
  return toDecimal({ value, isExclusive: false })
}

function eachFactor(parts: readonly Part[]): { readonly part: Part; readonly factor: number }[] {
  return eachKeyword(parts, 'multipleOf').map(({ part, value }) => {
    if (typeof value !== 'number' || value <= 0 || value === Infinity)
      throw faultAt(part, 'multipleOf', 'expected a number above 0')
    return { part, factor: value }
  })
}
