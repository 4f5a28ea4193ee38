import { toMicrosText } from '../../core/money.ts'
import type { InvoiceContent } from './compute-invoice.ts'

/** Changes when the same rows would be written otherwise. */
const form = 'odyssey-invoice-1'

/** An invoice as it is signed: the same rows give the same bytes, on either database. Amounts are micro-units, as texts. */
export function writeInvoice(number: number, content: InvoiceContent): string {
  const { organizationId: organization, month, currency, totalMicros, prepaidMicros, balanceMicros } = content
  const invoice = {
    form,
    number,
    organization,
    month,
    currency,
    requests: content.requests,
    requestsWithoutPrice: content.unpriced,
    usage: content.lines.map(({ model, kind, tokens, rate, priceId, effectiveAtMs, picos }) => {
      const price = { id: priceId, since: toTime(effectiveAtMs), microsPerMillion: rate }
      return { model, kind, tokens, price, micros: toMicrosText(picos) }
    }),
    rounding: content.rounding.map(({ model, priceId, picos }) => ({ model, priceId, micros: toMicrosText(picos) })),
    chargesMicros: toMicrosText(content.chargesPicos),
    credits: content.credits.map(({ model, percent, micros }) => ({ model, percent, micros: String(-micros) })),
    adjustments: content.adjustments.map(showEntry),
    totalMicros: String(totalMicros),
    prepayments: content.prepayments.map(showEntry),
    balanceMicros: String(balanceMicros),
    prepaidMicros: String(prepaidMicros),
    dueMicros: String(totalMicros - prepaidMicros),
    balanceLeftMicros: String(balanceMicros - prepaidMicros),
  }
  return `${JSON.stringify(invoice, null, 2)}\n`
}

function showEntry({ id, atMs, micros, reason }: InvoiceContent['adjustments'][number]) {
  return { id, at: toTime(atMs), micros: String(micros), reason }
}

function toTime(ms: number): string {
  return new Date(ms).toISOString()
}
