/** Amounts come as millionths of a unit of the currency, as text with up to six decimals, and stay exact. */
const microsForm = /^(-?)(\d+)(?:\.(\d{1,6}))?$/

/** In millionths of a millionth. */
function toPicos(micros: string): bigint {
  const found = microsForm.exec(micros)
  if (found === null) throw new Error(`${micros} is no amount.`)
  const [, sign = '', whole = '0', part = ''] = found
  const value = BigInt(whole) * 1_000_000n + BigInt(part.padEnd(6, '0'))
  return sign === '-' ? -value : value
}

const picosPerUnit = 1_000_000_000_000n

/** An amount with a number of decimals, rounded half away from zero; groups by the reader's locale. */
export function formatMoney(micros: string, { currency, decimals = 2 }: MoneyForm): string {
  const picos = toPicos(micros)
  const isNegative = picos < 0n
  const size = isNegative ? -picos : picos
  if (decimals === 2 && size > 0n && size < picosPerUnit / 200n)
    return `${isNegative ? '−' : ''}< ${sign(currency)}0.01`
  const step = picosPerUnit / 10n ** BigInt(decimals)
  const rounded = (size + step / 2n) / step
  const unit = 10n ** BigInt(decimals)
  const whole = new Intl.NumberFormat('en-US').format(rounded / unit)
  const part = decimals === 0 ? '' : `.${String(rounded % unit).padStart(decimals, '0')}`
  return `${isNegative ? '−' : ''}${sign(currency)}${whole}${part}`
}

export type MoneyForm = { readonly currency: string; readonly decimals?: number }

/** What a million tokens cost, with as many decimals as it has and two at least: a part of a cent is the whole of some rates. */
export function formatRate(micros: number, currency: string): string {
  const decimals = [2, 3, 4, 5].find((count) => micros % 10 ** (6 - count) === 0) ?? 6
  return formatMoney(String(micros), { currency, decimals })
}

/** The amount with all its digits, as a tooltip and an export have it. */
export function formatExactMoney(micros: string, currency: string): string {
  const picos = toPicos(micros)
  const size = picos < 0n ? -picos : picos
  const part = String(size % picosPerUnit)
    .padStart(12, '0')
    .replace(/0{1,10}$/, '')
  return `${picos < 0n ? '−' : ''}${String(size / picosPerUnit)}.${part} ${currency}`
}

function sign(currency: string): string {
  const parts = new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency,
    currencyDisplay: 'narrowSymbol',
  }).formatToParts(0)
  const symbol = parts.find(({ type }) => type === 'currency')?.value ?? currency
  return symbol.length > 2 ? `${symbol} ` : symbol
}

/** The share of one amount in another, from 0 to 1 and beyond; 0 where there is no other. */
export function shareOf(part: string, whole: string): number {
  const total = toPicos(whole)
  return total === 0n ? 0 : Number((toPicos(part) * 1_000_000n) / total) / 1_000_000
}

/** For the height of a bar, which needs no exact figure. */
export function toUnits(micros: string): number {
  return Number(toPicos(micros) / 1_000_000n) / 1_000_000
}
