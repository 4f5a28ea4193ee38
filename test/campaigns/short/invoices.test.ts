import { test } from 'node:test'
import { runInvoices } from '../invoices/invoices.ts'
import { runShort } from '../run-short.ts'

test('a year of invoices comes to what was used, and does so from a backup', () => runShort(runInvoices, 2))
