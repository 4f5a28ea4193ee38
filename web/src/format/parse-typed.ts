/** As the pages write numbers: a comma before each three digits, none before a digit that counts nothing. */
const grouped = /^[1-9]\d{0,2}(?:,\d{3})+(?=\.|$)/
const amountForm = /^(\d{1,12})(?:\.(\d{1,6}))?$/

/**
 * Reads an amount that somebody typed, in units of the currency; null for what is none.
 *
 * A comma is a decimal one only where it cannot be that of a group, since ten thousand must not become ten.
 */
export function parseMoney(typed: string): string | null {
  const text = typed.trim()
  const plain = grouped.test(text) ? text.replaceAll(',', '') : decimalPoint(text)
  const found = amountForm.exec(plain)
  if (found === null) return null
  const [, whole = '0', part = ''] = found
  return String(BigInt(whole) * 1_000_000n + BigInt(part.padEnd(6, '0')))
}

function decimalPoint(text: string): string {
  return /^(?:0,\d+|\d+,(?!\d{3}$)\d+)$/.test(text) ? text.replace(',', '.') : text
}

/** Reads a whole number that somebody typed, also with commas or spaces before each three digits; null for what is none. */
export function parseCount(typed: string): number | null {
  const text = typed.trim()
  return /^\d+$/.test(text) || /^[1-9]\d{0,2}(?:[\s,]\d{3})+$/.test(text) ? Number(text.replaceAll(/[\s,]/g, '')) : null
}
