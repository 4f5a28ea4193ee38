import { UsageError } from '../usage-error.ts'

const microsPerUnit = 1_000_000n
const decimals = 6

/** A sum in whole units of the currency, exact: 1234567 is 1.234567. */
export function formatMicros(micros: bigint): string {
  const size = micros < 0n ? -micros : micros
  const fraction = String(size % microsPerUnit).padStart(decimals, '0')
  return `${micros < 0n ? '-' : ''}${size / microsPerUnit}.${fraction}`
}

/** Reads an amount such as 0.30 exactly: it never becomes a fraction in between. */
export function parseMicros(text: string, name: string): number {
  const found = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text)
  if (found === null) throw new UsageError(`${name} takes an amount such as 3 or 0.25, with six decimals at most.`)
  const [, units = '', fraction = ''] = found
  return Number(BigInt(units) * microsPerUnit + BigInt(fraction.padEnd(decimals, '0')))
}
