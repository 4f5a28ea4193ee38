import { sql, type Transaction } from 'kysely'
import type { OrganizationId } from '../../core/ids.ts'
import { isPostgres } from '../../db/is-postgres.ts'
import type { Tables } from '../../db/tables.ts'
import { signNote } from '../../lib/signed-note.ts'
import type { MonthParts, ReportSigning } from '../availability/close-months.ts'
import { computeInvoice, type InvoiceQuestion } from './compute-invoice.ts'
import { listUninvoiced } from './uninvoiced.ts'
import { writeInvoice } from './write-invoice.ts'

/** The name under which the invoices of an organization are signed, which is also their first line. */
export function invoiceName({ name }: Pick<ReportSigning, 'name'>, organizationId: OrganizationId): string {
  return `${name}/invoices/${organizationId}`
}

/**
 * Writes the invoices of a month for every organization that has none yet.
 *
 * Months are closed in their order, and only after what is given back for them is written down. Who was there for less
 * than a minute of a month has no report of it, and an invoice all the same.
 */
export async function closeInvoices(parts: MonthParts, signing: ReportSigning, month: string): Promise<void> {
  const { db, currency } = parts
  if (signing.keys.length === 0) return
  for (const organizationId of await listUninvoiced(db, month)) {
    await closeInvoice(parts, signing, { organizationId, month, currency })
  }
}

/** Returns the invoice's number; null where somebody else was faster. */
export async function closeInvoice(
  { db, clock }: MonthParts,
  signing: ReportSigning,
  question: InvoiceQuestion,
): Promise<number | null> {
  const { organizationId, month, currency } = question
  const content = await computeInvoice(db, question)
  const name = invoiceName(signing, organizationId)
  // The number is signed for, and who signs may take its time: nothing is locked meanwhile.
  const number = await db.transaction().execute(nextNumber)
  const note = await signNote(
    `${name}\n${writeInvoice(number, content)}`,
    signing.keys.map((key) => ({ name, key })),
  )
  const written = await db.transaction().execute(async (transaction) => {
    if ((await nextNumber(transaction)) !== number) return 'taken'
    const row = await transaction
      .insertInto('invoices')
      .values({
        number,
        organization_id: organizationId,
        month,
        at: clock.nowMs(),
        currency,
        total_micros: Number(content.totalMicros),
        prepaid_micros: Number(content.prepaidMicros),
        note,
      })
      .onConflict((conflict) => conflict.columns(['organization_id', 'month']).doNothing())
      .returning('number')
      .executeTakeFirst()
    return row?.number ?? null
  })
  return written === 'taken' ? closeInvoice({ db, clock, currency }, signing, question) : written
}

/** Nobody else takes a number until this transaction ends, so that none is left out. */
async function nextNumber(transaction: Transaction<Tables>): Promise<number> {
  if (isPostgres(transaction)) await sql`lock table invoices in exclusive mode`.execute(transaction)
  const last = await transaction
    .selectFrom('invoices')
    .select('number')
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  return (last?.number ?? 0) + 1
}
