import { z } from 'zod'
import { addAccountEntry, type AccountEntry } from '../../../../billing/invoices/account-entries.ts'
import { writeInvoicePage } from '../../../../billing/invoices/invoice-page.ts'
import { invoiceToCsv, listInvoices, readInvoice, type Invoice } from '../../../../billing/invoices/read-invoices.ts'
import { onePiece } from '../../export.ts'
import { defineRoute, type Route } from '../../route.ts'
import { costMicros, id, inOrganization, name, organizationId, time, toTime } from '../../schemas.ts'

const invoice = z
  .strictObject({
    number: z.int().describe('From 1 on, without a gap, over all organizations.'),
    organizationId,
    month: z.string(),
    closedAt: time,
    currency: z.string(),
    totalMicros: costMicros,
    prepaidMicros: costMicros.describe('What of the total was paid before; the rest is due.'),
    dueMicros: costMicros,
  })
  .meta({ id: 'Invoice' })

const entry = z
  .strictObject({
    id: id('entry'),
    organizationId,
    at: time,
    kind: z.enum(['prepayment', 'adjustment']),
    micros: z.int().describe('Above zero a prepayment, or what is charged beside usage; below zero what is spared.'),
    reason: name,
  })
  .meta({ id: 'AccountEntry' })

const newEntry = entry.omit({ id: true, at: true, organizationId: true }).meta({ id: 'NewAccountEntry' })

const form = z
  .enum(['signed', 'csv', 'html'])
  .default('signed')
  .describe('As it is signed, as CSV, or as a page that prints.')

function show({ atMs, totalMicros, prepaidMicros, ...rest }: Invoice): z.input<typeof invoice> {
  const dueMicros = String(BigInt(totalMicros) - BigInt(prepaidMicros))
  return { ...rest, closedAt: toTime(atMs), totalMicros, prepaidMicros, dueMicros }
}

function showEntry({ id: own, atMs, ...rest }: AccountEntry): z.input<typeof entry> {
  return { ...rest, id: own as z.input<typeof entry>['id'], at: toTime(atMs) }
}

export const invoiceRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/organizations/{organizationId}/invoices',
    permission: 'invoices:read',
    scope: 'organization',
    summary: 'List the invoices of an organization, the newest first',
    params: inOrganization,
    answer: z.strictObject({ data: z.array(invoice) }),
    async work({ parts: { accounts }, principal, params }) {
      return { data: (await listInvoices(accounts.db, principal, params.organizationId)).map(show) }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/organizations/{organizationId}/invoices/{invoiceNumber}/export',
    permission: 'invoices:read',
    scope: 'organization',
    summary: 'Save an invoice as it is signed, as CSV, or as a page that prints',
    params: inOrganization.extend({ invoiceNumber: z.string().regex(/^[1-9]\d{0,8}$/) }),
    query: z.strictObject({ format: form }),
    answer: 'export',
    async work({ parts: { accounts }, principal, params, query: { format } }) {
      const number = Number(params.invoiceNumber)
      const { note, text } = await readInvoice(accounts.db, principal, { ...params, number })
      const [contentType, ending, content] = {
        signed: ['text/plain; charset=utf-8', 'txt', note],
        csv: ['text/csv; charset=utf-8', 'csv', invoiceToCsv(text)],
        html: ['text/html; charset=utf-8', 'html', writeInvoicePage(text)],
      }[format] as [string, string, string]
      return { contentType, fileName: `invoice-${number}.${ending}`, chunks: onePiece(content) }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/organizations/{organizationId}/account-entries',
    permission: 'invoices:adjust',
    scope: 'organization',
    summary: 'Write down what an organization has paid before, or is charged or spared beside its usage',
    params: inOrganization,
    body: newEntry,
    example: { kind: 'prepayment', micros: 50_000_000, reason: 'Transfer of 1 March' },
    answer: entry,
    async work({ parts: { accounts }, principal, params, body }) {
      return showEntry(await addAccountEntry(accounts, principal, { ...body, ...params }))
    },
  }),
]
