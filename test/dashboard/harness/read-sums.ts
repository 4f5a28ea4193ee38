import type { Page } from 'playwright-core'

/** Requests, and their cost in millionths of micros. */
export type Sum = { readonly requests: number; readonly picos: bigint }

/** What a title says exactly, as `0.006131 USD`, in millionths of micros. */
export function picosOf(title: string | null): bigint {
  const [amount = ''] = (title ?? '').split(' ')
  const [whole = '0', part = ''] = amount.split('.')
  const picos = BigInt(whole.replace('-', '')) * 10n ** 12n + BigInt(part.padEnd(12, '0'))
  return amount.startsWith('-') ? -picos : picos
}

/** Of a decimal number of micros. */
export function picosOfMicros(micros: string): bigint {
  const [whole = '0', part = ''] = micros.replace('-', '').split('.')
  const picos = BigInt(whole) * 1_000_000n + BigInt(part.padEnd(6, '0'))
  return micros.startsWith('-') ? -picos : picos
}

/** What the figures of a list of sums say exactly. */
export async function readStats(page: Page, name: string): Promise<Sum> {
  const list = page.locator(`dl[aria-label="${name}"]`)
  const figure = (term: string) => list.locator('div', { has: page.getByText(term, { exact: true }) }).locator('dd')
  // It has one as soon as it is known, and the other figures are known with it.
  const picos = picosOf(await figure('Cost').locator('span').first().getAttribute('title'))
  // What is said below a figure is no part of it.
  const shown = await figure('Requests').evaluate((element) => element.firstChild?.textContent ?? '')
  return { requests: Number(shown.replaceAll(',', '')), picos }
}
