import { escapeXml } from '../../lib/xml/write-xml.ts'
import { linesOf, type InvoiceText } from './read-invoices.ts'

const kinds: Readonly<Record<string, string>> = {
  input: 'Input',
  cacheRead: 'Input read from the cache',
  cacheWriteShort: 'Input kept for five minutes',
  cacheWriteLong: 'Input kept for an hour',
  output: 'Output',
  rounding: 'Rounding of older requests',
  credit: 'Given back for availability',
}

/** An invoice as a page that prints on paper: no script, and nothing that comes from elsewhere. */
export function writeInvoicePage(invoice: InvoiceText): string {
  const { number, organization, month, currency, requests, requestsWithoutPrice } = invoice
  const money = (micros: string) => `${toUnits(micros)} ${currency}`
  const rows = linesOf(invoice).map(([what, model, tokens, rate, micros]) => {
    const cells = [
      kinds[what] ?? what,
      model,
      tokens === null ? '' : String(tokens),
      rate === null ? '' : toUnits(String(rate)),
      money(micros),
    ]
    return `<tr>${cells.map((cell, index) => `<td${index > 1 ? ' align="right"' : ''}>${escapeXml(cell)}</td>`).join('')}</tr>`
  })
  const sums = [
    ['Total', invoice.totalMicros],
    ['Paid before', invoice.prepaidMicros],
    ['Due', invoice.dueMicros],
    ['Balance left', invoice.balanceLeftMicros],
  ].map(([name = '', micros = '']) => {
    return `<tr><th colspan="4" align="right">${name}</th><td align="right">${escapeXml(money(micros))}</td></tr>`
  })
  const free = requestsWithoutPrice === 0 ? '' : ` ${requestsWithoutPrice} of them had no price.`
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Invoice ${number}</title></head><body>` +
    `<h1>Invoice ${number}</h1><p>${escapeXml(organization)}, ${escapeXml(month)} (UTC). ${requests} requests.${free}</p>` +
    '<table border="1" cellpadding="4" cellspacing="0" width="100%"><thead><tr><th align="left">What</th>' +
    '<th align="left">Model</th><th align="right">Tokens</th><th align="right">A million</th>' +
    `<th align="right">Amount</th></tr></thead><tbody>${rows.join('')}</tbody><tfoot>${sums.join('')}</tfoot></table>` +
    '</body></html>\n'
  )
}

const decimals = 6

/** Micro-units with up to six decimals as units: none of them is lost. */
function toUnits(micros: string): string {
  const [, sign = '', whole = '', rest = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(micros) ?? []
  const padded = whole.padStart(decimals + 1, '0')
  const fraction = `${padded.slice(-decimals)}${rest}`.replace(/0+$/, '').padEnd(2, '0')
  return `${sign}${padded.slice(0, -decimals)}.${fraction}`
}
