import { sql, type Transaction } from 'kysely'
import type { OrganizationId } from '../../core/ids.ts'
import { isPostgres } from '../../db/is-postgres.ts'
import type { Tables } from '../../db/tables.ts'
import { signNote } from '../../lib/signed-note.ts'
import type { Log } from '../../telemetry/log.ts'
import type { MonthParts, ReportSigning } from '../availability/close-months.ts'
import { computeInvoice, type InvoiceQuestion } from './compute-invoice.ts'
import { listUninvoiced } from './uninvoiced.ts'
import { writeInvoice } from './write-invoice.ts'

/** The name under which the invoices of an organization are signed, which is also their first line. */
export function invoiceName({ name }: Pick<ReportSigning, 'name'>, organizationId: OrganizationId): string {
  return `${name}/invoices/${organizationId}`
}

/** When so many fail in a row it is no fault of theirs: the database or who signs is away. */
const failedInRowMax = 5

/**
 * Writes the invoices of months for every organization that has none yet.
 *
 * Months are closed in their order, and only after what is given back for them is written down. Who was there for less
 * than a minute of a month has no report of it, and an invoice all the same. An organization whose invoice fails holds up
 * nobody else; its later months wait with it, since each takes what the months before it have left of what was paid.
 */
export async function closeInvoices(
  { log, ...parts }: MonthParts & { readonly log: Log },
  signing: ReportSigning,
  months: readonly string[],
): Promise<void> {
  if (signing.keys.length === 0) return
  const { db, currency } = parts
  const failed = new Set<OrganizationId>()
  let failedInRow = 0
  for (const month of months) {
    const open = (await listUninvoiced(db, month)).filter((id) => !failed.has(id))
    for (const organizationId of open) {
      const error = await failureOf(closeInvoice(parts, signing, { organizationId, month, currency }))
      failedInRow = error === null ? 0 : failedInRow + 1
      if (error === null) continue
      failed.add(organizationId)
      log.error({ error, organization_id: organizationId, month }, 'an invoice could not be written; it is tried again')
      if (failedInRow === failedInRowMax) return
    }
  }
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work
    return null
  } catch (error) {
    return error
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
        total_micros: content.totalMicros,
        prepaid_micros: content.prepaidMicros,
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
