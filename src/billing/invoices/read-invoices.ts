import { z } from 'zod'
import type { OrganizationId } from '../../core/ids.ts'
import { notFound, requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import { amountText } from '../../db/tables/amount.ts'
import type { Database } from '../../db/database.ts'
import { csvLine } from '../../lib/csv.ts'
import { parseNote } from '../../lib/signed-note.ts'

export type Invoice = {
  readonly number: number
  readonly organizationId: OrganizationId
  readonly month: string
  readonly atMs: number
  readonly currency: string
  /** Whole numbers as texts: they may have more digits than a number keeps. */
  readonly totalMicros: string
  readonly prepaidMicros: string
}

/** An organization's invoices, the newest first. */
export async function listInvoices(
  db: Database,
  principal: Principal,
  organizationId: OrganizationId,
): Promise<readonly Invoice[]> {
  requirePermission(principal, 'invoices:read', { organizationId })
  const rows = await db
    .selectFrom('invoices')
    .select(['number', 'month', 'at as atMs', 'currency'])
    .select([amountText('total_micros').as('totalMicros'), amountText('prepaid_micros').as('prepaidMicros')])
    .where('organization_id', '=', organizationId)
    .orderBy('number', 'desc')
    .execute()
  return rows.map((row) => ({ ...row, organizationId }))
}

const decimal = z.string().regex(/^-?\d+(\.\d{1,6})?$/)
const entry = z.object({ id: z.string(), at: z.string(), micros: decimal, reason: z.string() })
const invoiceText = z.object({
  number: z.int(),
  organization: z.string(),
  month: z.string(),
  currency: z.string(),
  requests: z.int(),
  requestsWithoutPrice: z.int(),
  usage: z.array(
    z.object({
      model: z.string(),
      kind: z.string(),
      tokens: z.int(),
      price: z.object({ id: z.string(), since: z.string(), microsPerMillion: z.int() }),
      micros: decimal,
    }),
  ),
  rounding: z.array(z.object({ model: z.string(), priceId: z.string(), micros: decimal })),
  chargesMicros: decimal,
  credits: z.array(z.object({ model: z.string(), percent: z.int(), micros: decimal })),
  adjustments: z.array(entry),
  totalMicros: decimal,
  prepayments: z.array(entry),
  balanceMicros: decimal,
  prepaidMicros: decimal,
  dueMicros: decimal,
  balanceLeftMicros: decimal,
})

/** What was signed, read again. */
export type InvoiceText = z.output<typeof invoiceText>

export type SignedInvoice = { readonly note: string; readonly text: InvoiceText }

export async function readInvoice(
  db: Database,
  principal: Principal,
  { organizationId, number }: Pick<Invoice, 'organizationId' | 'number'>,
): Promise<SignedInvoice> {
  requirePermission(principal, 'invoices:read', { organizationId })
  const row = await db
    .selectFrom('invoices')
    .select('note')
    .where('organization_id', '=', organizationId)
    .where('number', '=', number)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  const text = parseNote(row.note)?.text ?? ''
  return { note: row.note, text: invoiceText.parse(JSON.parse(text.slice(text.indexOf('\n') + 1))) }
}

type InvoiceLine = readonly [
  what: string,
  model: string,
  tokens: number | null,
  microsPerMillion: number | null,
  micros: string,
]

/** Everything that adds up to the total, a line each. */
export function linesOf(invoice: InvoiceText): readonly InvoiceLine[] {
  return [
    ...invoice.usage.map(({ model, kind, tokens, price, micros }): InvoiceLine => {
      return [kind, model, tokens, price.microsPerMillion, micros]
    }),
    ...invoice.rounding.map(({ model, micros }): InvoiceLine => ['rounding', model, null, null, micros]),
    ...invoice.credits.map(({ model, micros }): InvoiceLine => ['credit', model, null, null, micros]),
    ...invoice.adjustments.map(({ reason, micros }): InvoiceLine => [`adjustment: ${reason}`, '', null, null, micros]),
  ]
}

export function invoiceToCsv(invoice: InvoiceText): string {
  const head = ['invoice', 'month', 'what', 'model', 'tokens', 'micros_per_million', 'micros', 'currency']
  const { number, month, currency } = invoice
  const lines = linesOf(invoice).map((line) => [number, month, ...line, currency])
  const sums = [
    ['total', invoice.totalMicros],
    ['prepaid', invoice.prepaidMicros],
    ['due', invoice.dueMicros],
  ].map(([what, micros]) => [number, month, what ?? '', '', null, null, micros ?? '', currency])
  return [head, ...lines, ...sums].map(csvLine).join('')
}
