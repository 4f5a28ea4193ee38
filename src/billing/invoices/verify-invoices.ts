import { amountText } from '../../db/tables/amount.ts'
import type { Database } from '../../db/database.ts'
import type { InvoiceTable } from '../../db/tables/invoices.ts'
import { findSigners, parseNote } from '../../lib/signed-note.ts'
import { periodOf } from '../availability/month.ts'
import { computeInvoice } from './compute-invoice.ts'
import { writeInvoice } from './write-invoice.ts'

export type InvoiceFault = { readonly number: number; readonly fault: string }

/** Computes every invoice once more from the ledger, as far as its rows are kept, and checks their numbers and signatures. */
export async function verifyInvoices(
  db: Database,
  keys: readonly Uint8Array[],
  report: (fault: InvoiceFault) => void,
): Promise<number> {
  const { kept_from: keptFromMs } = await db.selectFrom('ledger_progress').select('kept_from').executeTakeFirstOrThrow()
  const invoices = await db
    .selectFrom('invoices')
    .select(['number', 'organization_id', 'month', 'currency', 'note', amountText('total_micros').as('totalMicros')])
    .orderBy('number')
    .execute()
  for (const [index, invoice] of invoices.entries()) {
    const { number } = invoice
    if (number !== index + 1) report({ number, fault: `its number should be ${index + 1}` })
    if (!isSigned(invoice, keys)) report({ number, fault: 'it is not signed by this installation' })
    if (periodOf(invoice.month).fromMs < keptFromMs) continue
    const fault = await findFault(db, invoice)
    if (fault !== null) report({ number, fault })
  }
  return invoices.length
}

type WrittenInvoice = Pick<InvoiceTable, 'number' | 'organization_id' | 'month' | 'currency' | 'note'> & {
  readonly totalMicros: string
}

function isSigned({ note: text }: WrittenInvoice, keys: readonly Uint8Array[]): boolean {
  const note = parseNote(text)
  if (note === null) return false
  const name = nameIn(note.text)
  return (
    findSigners(
      note,
      keys.map((publicKey) => ({ name, publicKey })),
    ).length > 0
  )
}

function nameIn(text: string): string {
  return text.slice(0, text.indexOf('\n'))
}

async function findFault(db: Database, invoice: WrittenInvoice): Promise<string | null> {
  const { number, organization_id: organizationId, month, currency, totalMicros, note: text } = invoice
  const content = await computeInvoice(db, { organizationId, month, currency })
  if (BigInt(totalMicros) !== content.totalMicros)
    return `it comes to ${content.totalMicros} micro-units and not ${totalMicros}`
  const signed = parseNote(text)?.text ?? ''
  return signed === `${nameIn(signed)}\n${writeInvoice(number, content)}`
    ? null
    : 'its lines are not those of the ledger'
}
