/**
 * Whether a number is a multiple of another in decimals, as JSON writes both.
 *
 * Doubles do not say so: 4.1 / 0.01 is 409.99999999999994 to them. Each number is taken as the shortest decimal that
 * names its double, and the two are divided as whole numbers of the finer one's last place.
 */
export function isExactMultiple(value: number, factor: number): boolean {
  const [left, right] = [readDecimal(value), readDecimal(factor)]
  const place = Math.min(left.exponent, right.exponent)
  const inPlaces = ({ digits, exponent }: Decimal) => digits * 10n ** BigInt(exponent - place)
  return inPlaces(left) % inPlaces(right) === 0n
}

/** The number is `digits` times ten to the power of `exponent`. */
type Decimal = { readonly digits: bigint; readonly exponent: number }

function readDecimal(value: number): Decimal {
  const [mantissa = '0', power = '0'] = value.toString().split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length }
}
