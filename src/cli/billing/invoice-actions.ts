import { addAccountEntry } from '../../billing/invoices/account-entries.ts'
import { requireCurrency } from '../../billing/invoices/require-currency.ts'
import { writeInvoicePage } from '../../billing/invoices/invoice-page.ts'
import { invoiceToCsv, listInvoices, readInvoice } from '../../billing/invoices/read-invoices.ts'
import type { Installation } from '../../service/joins/open-installation.ts'
import { operator, print, printList, readOrganizationId } from '../accounts/with-installation.ts'
import { UsageError } from '../usage-error.ts'
import { formatMicros, parseMicros } from './money-text.ts'
import { writeOut } from './write-out.ts'

export const invoiceOptions = {
  organization: { type: 'string' },
  amount: { type: 'string' },
  reason: { type: 'string' },
  csv: { type: 'boolean', default: false },
  html: { type: 'boolean', default: false },
} as const

export type InvoiceValues = {
  readonly organization?: string | undefined
  readonly amount?: string | undefined
  readonly reason?: string | undefined
  readonly csv: boolean
  readonly html: boolean
  readonly json: boolean
}

type Given = {
  readonly subject: string | undefined
  readonly values: InvoiceValues
  /** The installation's, as the config file has it. */
  readonly currency: string
}
type Action = (installation: Installation, given: Given) => Promise<void>

/** What `odyssey bill` does with invoices and what stands on them. */
export const invoiceActions: Readonly<Record<string, Action>> = {
  invoices,
  invoice,
  prepay: (installation, given) => addEntry(installation, given, 'prepayment'),
  adjust: (installation, given) => addEntry(installation, given, 'adjustment'),
}

async function invoices(installation: Installation, { values }: Given): Promise<void> {
  const organizationId = readOrganizationId(values.organization, installation)
  const found = await listInvoices(installation.db, operator, organizationId)
  const lines = found.map(({ number, month, currency, totalMicros, prepaidMicros }) => {
    const total = BigInt(totalMicros)
    const due = total - BigInt(prepaidMicros)
    return `${number}  ${month}  ${formatMicros(total)} ${currency}, ${formatMicros(due)} due`
  })
  printList(values.json, 'invoices', found, lines)
}

async function invoice(installation: Installation, { subject = '', values }: Given): Promise<void> {
  if (!/^[1-9]\d{0,8}$/.test(subject)) throw new UsageError('bill invoice needs the number of one.')
  if ([values.csv, values.html, values.json].filter(Boolean).length > 1)
    throw new UsageError('bill invoice takes --csv, --html or --json.')
  const organizationId = readOrganizationId(values.organization, installation)
  const { note, text } = await readInvoice(installation.db, operator, { organizationId, number: Number(subject) })
  if (values.json) return writeOut(`${JSON.stringify(text)}\n`)
  if (values.csv) return writeOut(invoiceToCsv(text))
  await writeOut(values.html ? writeInvoicePage(text) : note)
}

async function addEntry(
  installation: Installation,
  { values, currency }: Given,
  kind: 'prepayment' | 'adjustment',
): Promise<void> {
  const { amount, reason } = values
  if (amount === undefined || reason === undefined)
    throw new UsageError('It needs --amount AMOUNT, in units of the currency, and --reason TEXT.')
  const isBelow = amount.startsWith('-')
  const size = parseMicros(isBelow ? amount.slice(1) : amount, '--amount')
  const organizationId = readOrganizationId(values.organization, installation)
  const wanted = { organizationId, kind, micros: isBelow ? -size : size, reason }
  const parts = { ...installation.accounts, currency }
  // A service that runs has begun with the one before, and goes on with it.
  await requireCurrency(parts)
  const made = await addAccountEntry(parts, operator, wanted)
  print(values.json, made, [`${made.id} stands on the invoice of this month.`])
}
