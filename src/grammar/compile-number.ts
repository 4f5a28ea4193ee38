import type { Context } from './context.ts'
import { type Decimal, magnitudeRange, toDecimal, wholeDigitsMax, naturalRange } from './number-ranges.ts'
import { anyInteger, anyNumber, fractionDigitsMax, integerDigitsMax } from './json-rules.ts'
import { multipleExponent } from './multiples.ts'
import { type Bound, type Bounds, numberBounds } from './number-bounds.ts'
import { SchemaFault } from './schema-fault.ts'
import { eachKeyword, impossible, innermostPath, type Part } from './schema/schema-part.ts'

export function compileInteger(context: Context, parts: readonly Part[], hint: string): string {
  const bounds = numberBounds(parts)
  const exponent = Math.max(0, multipleExponent(context, parts) ?? 0)
  if (bounds.low === null && bounds.high === null && exponent === 0) return anyInteger(context.builder)
  return integersWithin(context, parts, { bounds, exponent, hint })
}

type NumberChoice = { readonly bounds: Bounds; readonly exponent: number; readonly hint: string }

function integersWithin({ builder }: Context, parts: readonly Part[], choice: NumberChoice): string {
  const { exponent, hint } = choice
  const { from, to } = scaledBounds(choice)
  if (from > to) throw isBeyond(choice.bounds) ? neverWritten(parts) : impossible(parts)
  const zeros = exponent === 0 ? '' : ` "${'0'.repeat(exponent)}"`
  const alternatives: string[] = []
  if (from <= 0n && to >= 0n) alternatives.push('"0"')
  if (to >= 1n) alternatives.push(naturalRange(builder, from < 1n ? 1n : from, to) + zeros)
  if (from < 0n) alternatives.push(`"-" ${naturalRange(builder, to < -1n ? -to : 1n, -from)}${zeros}`)
  return builder.rule(hint, alternatives.join(' | '))
}

/** The largest whole number that is generated. */
const limit = 10n ** BigInt(integerDigitsMax) - 1n

/** Whether only numbers satisfy the bounds that are longer than any that is generated. */
function isBeyond({ low, high }: Bounds): boolean {
  return (low !== null && lowest(low) > limit) || (high !== null && highest(high) < -limit)
}

/** There are numbers within the bounds, which is more than is said of a schema that is impossible. */
function neverWritten(parts: readonly Part[]): SchemaFault {
  return new SchemaFault(
    innermostPath(parts),
    null,
    'within the bounds lie only numbers of more digits than are generated',
  )
}

/** The bounds in units of the power of ten, whose zeros are put behind the digits again. */
function scaledBounds({ bounds, exponent }: NumberChoice): { from: bigint; to: bigint } {
  const low = bounds.low === null ? -limit : lowest(bounds.low)
  const high = bounds.high === null ? limit : highest(bounds.high)
  const scale = 10n ** BigInt(exponent)
  return { from: divideUp(low < -limit ? -limit : low, scale), to: -divideUp(-(high > limit ? limit : high), scale) }
}

function lowest({ value, isExclusive }: Bound): bigint {
  const whole = Math.ceil(value)
  return BigInt(whole) + (isExclusive && whole === value ? 1n : 0n)
}

function highest({ value, isExclusive }: Bound): bigint {
  const whole = Math.floor(value)
  return BigInt(whole) - (isExclusive && whole === value ? 1n : 0n)
}

/** The quotient, rounded towards positive infinity; the divisor is positive. */
function divideUp(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor
  return value > 0n && value % divisor !== 0n ? quotient + 1n : quotient
}

export function compileNumber(context: Context, parts: readonly Part[], hint: string): string {
  const bounds = numberBounds(parts)
  const exponent = multipleExponent(context, parts)
  if (bounds.low === null && bounds.high === null && exponent === null) return anyNumber(context.builder)
  if (exponent !== null && exponent >= 0) return integersWithin(context, parts, { bounds, exponent, hint })
  return decimalsWithin(context, parts, { bounds, exponent: exponent ?? -fractionDigitsMax, hint })
}

/** Any decimal with this many digits is told apart by a double. */
const doubleDigits = 15

/** Numbers in plain notation, which is the one whose digits can be compared with a bound's. */
function decimalsWithin(context: Context, parts: readonly Part[], choice: NumberChoice): string {
  const { builder } = context
  const { low, high, fractionMax } = decimalLimits(context, parts, choice)
  const alternatives: string[] = []
  if (high === null || !isBelowZero(high)) {
    const from = low === null || low.isNegative ? null : low
    alternatives.push(...magnitudeRange(builder, { low: from, high, fractionMax }))
  }
  if (low === null || low.isNegative) {
    const from = high !== null && isBelowZero(high) ? high : null
    const magnitudes = magnitudeRange(builder, { low: from, high: low, fractionMax })
    if (magnitudes.length > 0) alternatives.push(`"-" ${builder.rule('magnitude', magnitudes.join(' | '))}`)
  }
  if (alternatives.length === 0) throw neverWritten(parts)
  return builder.rule(choice.hint, alternatives.join(' | '))
}

type DecimalLimits = { readonly low: Decimal | null; readonly high: Decimal | null; readonly fractionMax: number }

function decimalLimits(context: Context, parts: readonly Part[], { bounds, exponent }: NumberChoice): DecimalLimits {
  const low = toLimit(context, parts, { bound: bounds.low, names: lowNames })
  const high = toLimit(context, parts, { bound: bounds.high, names: highNames })
  // Beside a bound that is left out, a number with more digits than a double tells apart would round to it.
  const exact = [low, high].flatMap((bound) =>
    bound?.isExclusive === true ? [Math.max(bound.fraction.length, doubleDigits - bound.whole.toString().length)] : [],
  )
  const fractionMax = Math.min(-exponent, ...exact)
  const isTooFine = (bound: Decimal | null) => bound !== null && bound.fraction.length > fractionMax
  const tooFine = 'more decimal places than a value may have'
  if (isTooFine(low)) relaxBound(context, parts, { names: lowNames, message: tooFine })
  if (isTooFine(high)) relaxBound(context, parts, { names: highNames, message: tooFine })
  return { low: isTooFine(low) ? null : low, high: isTooFine(high) ? null : high, fractionMax }
}

const lowNames = ['minimum', 'exclusiveMinimum'] as const
const highNames = ['maximum', 'exclusiveMaximum'] as const
type Names = typeof lowNames | typeof highNames

/** A bound in digits; null where it lies beyond all the numbers that are generated, or is left out. */
function toLimit(
  context: Context,
  parts: readonly Part[],
  { bound, names }: { readonly bound: Bound | null; readonly names: Names },
): Decimal | null {
  if (bound === null) return null
  const decimal = toDecimal(bound)
  if (decimal.whole.toString().length <= wholeDigitsMax) return decimal
  if (decimal.isNegative !== (names === lowNames)) {
    relaxBound(context, parts, { names, message: `more than ${wholeDigitsMax} digits are not supported` })
  }
  return null
}

function relaxBound(
  { relax }: Context,
  parts: readonly Part[],
  { names, message }: { readonly names: Names; readonly message: string },
): void {
  for (const name of names) for (const { part } of eachKeyword(parts, name)) relax(part, name, message)
}

/** Whether a bound from above leaves negative numbers only. */
function isBelowZero({ isNegative, isExclusive, whole, fraction }: Decimal): boolean {
  return isNegative || (isExclusive && whole === 0n && fraction === '')
}
