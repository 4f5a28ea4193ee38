import { picosPerMicro, roundToMicros } from '../../core/money.ts'
import { UsageError } from '../usage-error.ts'

const microsPerUnit = 1_000_000n
const picosPerUnit = microsPerUnit * picosPerMicro
const decimals = 6

/** A sum in whole units of the currency, exact: 1234567 is 1.234567. */
export function formatMicros(micros: bigint): string {
  const size = micros < 0n ? -micros : micros
  const fraction = String(size % microsPerUnit).padStart(decimals, '0')
  return `${micros < 0n ? '-' : ''}${size / microsPerUnit}.${fraction}`
}

/** An amount for people, to the nearest micro-unit; sums are rounded here and nowhere before. */
export function formatRounded(picos: bigint): string {
  return formatMicros(roundToMicros(picos))
}

/** An amount for programs, exact: six decimals, and up to six more where it has them. */
export function formatExact(picos: bigint): string {
  const size = picos < 0n ? -picos : picos
  const fraction = String(size % picosPerUnit).padStart(2 * decimals, '0')
  return `${picos < 0n ? '-' : ''}${size / picosPerUnit}.${fraction.replace(/0{1,6}$/, '')}`
}

/** Reads an amount such as 0.30 exactly: it never becomes a fraction in between. */
export function parseMicros(text: string, name: string): number {
  const found = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text)
  if (found === null) throw new UsageError(`${name} takes an amount such as 3 or 0.25, with six decimals at most.`)
  const [, units = '', fraction = ''] = found
  return Number(BigInt(units) * microsPerUnit + BigInt(fraction.padEnd(decimals, '0')))
}
