import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { afterEach, beforeEach, test } from 'node:test'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { ledgerRow } from '../../../test/harness/databases/ledger-row.ts'
import { createManualClock, type ManualClock } from '../../../test/harness/manual-clock.ts'
import type { Database } from '../../db/database.ts'
import { localKey, publicKeyOf } from '../../lib/signed-note.ts'
import { createLog } from '../../telemetry/log.ts'
import { reconcile } from '../audits/reconcile.ts'
import { closeMonths } from '../availability/close-months.ts'
import { deleteOldRows } from '../ledger-jobs.ts'
import { insertRows } from '../ledger/writer/insert-rows.ts'
import type { NewLedgerRow } from '../ledger/writer/ledger-writer.ts'
import { setPrice } from '../prices/prices.ts'
import { rollUp } from '../usage/roll-up.ts'
import { addAccountEntry } from './account-entries.ts'
import { closeInvoice, closeInvoices } from './close-invoices.ts'
import type { InvoiceQuestion } from './compute-invoice.ts'
import { readMonthSums } from './month-sums.ts'
import { requireCurrency } from './require-currency.ts'
import { writeInvoicePage } from './invoice-page.ts'
import { invoiceToCsv, listInvoices, readInvoice } from './read-invoices.ts'
import { verifyInvoices } from './verify-invoices.ts'

const operator = { kind: 'operator' } as const
const start = Date.UTC(2027, 2, 1)
const day = 86_400_000
const organizationId = 'org_1'
const question: InvoiceQuestion = { organizationId, month: '2027-03', currency: 'USD' }
const rates = { input: 3_000_001, cacheRead: 300_000, cacheWriteShort: 3_750_000, cacheWriteLong: 6_000_000, output: 9 }
const key = generateKeyPairSync('ed25519').privateKey
const signing = { keys: [localKey(key)], name: 'invoices.example' }
const keys = [publicKeyOf(key)]
const log = createLog('silent')

/** The tokens of so many requests as each test has them. */
const spent = (requests: number) => {
  return { input: requests, cacheRead: 0, cacheWriteShort: 0, cacheWriteLong: 0, output: 7 * requests }
}

onEachDatabase(({ open }) => {
  let db: Database
  let clock: ManualClock
  beforeEach(async () => {
    db = await open()
    clock = createManualClock(start)
    const price = { organizationId: null, model: 'hal-1.0', rates, effectiveAtMs: null }
    const { id } = await setPrice({ db, clock, currency: 'USD' }, operator, price)
    const cost = { price_id: id, cost_micros: 3, cost_rest_picos: 1 + 9 * 7 }
    const used = { model: 'hal-1.0', at: start + 20_000, input_uncached: 1, input_cache_read: 0, input_cache_write: 0 }
    const row = (number: number, changes: Partial<NewLedgerRow>) => {
      return { ...ledgerRow(number), ...used, output: 7, ...changes }
    }
    await insertRows(db, [
      row(1, { ...cost }),
      row(2, { ...cost }),
      row(3, { price_id: id, cost_micros: 0, cost_rest_picos: 0, outcome: 'failed' }),
      row(4, { price_id: null, cost_micros: null, cost_rest_picos: null }),
      row(5, { organization_id: 'org_2', ...cost }),
      row(6, { at: Date.UTC(2027, 3, 1), ...cost }),
    ])
  })
  afterEach(() => db.destroy())

  const parts = () => ({ db, clock, currency: 'USD' })
  const close = (changes: Partial<InvoiceQuestion> = {}) => closeInvoice(parts(), signing, { ...question, ...changes })
  const read = async (number = 1) => (await readInvoice(db, operator, { organizationId, number })).text
  const add = (kind: 'prepayment' | 'adjustment', micros: number) =>
    addAccountEntry({ db, clock, currency: 'USD' }, operator, { organizationId, kind, micros, reason: 'why' })

  test('a month has the same sums in whatever pieces its rows are added up', async () => {
    const whole = await readMonthSums(db, question)
    deepEqual(
      whole.map(({ requests, costMicros, costRestPicos, tokens }) => ({
        requests,
        costMicros,
        costRestPicos,
        ...tokens,
      })),
      [
        { requests: 1, costMicros: 0n, costRestPicos: 0n, ...spent(1) },
        { requests: 3, costMicros: 6n, costRestPicos: 128n, ...spent(2) },
      ],
    )
    for (const rowsPerPiece of [1, 2, 3]) deepEqual(await readMonthSums(db, question, rowsPerPiece), whole)
  })

  test('an invoice has what the month’s requests cost, by model, kind and price, and nothing of what failed or had no price', async () => {
    await close()
    const { usage, requests, requestsWithoutPrice, chargesMicros, totalMicros, rounding } = await read()
    deepEqual(
      usage.map(({ kind, tokens, micros }) => [kind, tokens, micros]),
      [
        ['input', 2, '6.000002'],
        ['output', 14, '0.000126'],
      ],
    )
    deepEqual([requests, requestsWithoutPrice, chargesMicros, totalMicros, rounding], [4, 1, '6.000128', '6', []])
  })

  test('what was rounded when it was billed stands on a line of its own', async () => {
    const [row] = await db.selectFrom('ledger').selectAll().where('request_id', '=', 'req_1').execute()
    ok(row !== undefined)
    const { sequence: _, ...old } = row
    await insertRows(db, [{ ...old, request_id: 'req_old', cost_micros: 3, cost_rest_picos: null }])
    await close()
    const { rounding, chargesMicros, usage } = await read()
    deepEqual(
      rounding.map(({ micros }) => micros),
      ['-0.000064'],
    )
    equal(chargesMicros, '9.000128')
    equal(usage[0]?.tokens, 3)
  })

  test('a month is closed once, and numbers have no gap over organizations and tries', async () => {
    const numbers = await Promise.all([close(), close(), close({ organizationId: 'org_2' })])
    equal(numbers.filter((number) => number !== null).length, 2)
    await close({ month: '2027-04' })
    const rows = await db.selectFrom('invoices').select('number').orderBy('number').execute()
    deepEqual(
      rows.map(({ number }) => number),
      [1, 2, 3],
    )
  })

  test('adjustments change the total, and what was paid before is used up month by month', async () => {
    await add('prepayment', 10)
    await add('adjustment', 2)
    await close()
    const first = await read()
    deepEqual([first.totalMicros, first.prepaidMicros, first.dueMicros, first.balanceLeftMicros], ['8', '8', '0', '2'])
    clock.advance(31 * 86_400_000)
    await close({ month: '2027-04' })
    const second = await read(2)
    deepEqual([second.totalMicros, second.balanceMicros, second.prepaidMicros, second.dueMicros], ['3', '2', '2', '1'])
  })

  test('an amount that is nothing, or a prepayment below zero, is refused, and what is added is in the audit', async () => {
    await rejects(add('prepayment', -1), { name: 'ApiError' })
    await rejects(add('adjustment', 0), { name: 'ApiError' })
    await add('adjustment', -1)
    const actions = await db
      .selectFrom('audit')
      .select('action')
      .where('organization_id', '=', organizationId)
      .execute()
    deepEqual(
      actions.map(({ action }) => action),
      ['account-entries:adjustment'],
    )
  })

  test('every invoice is found right, until a row or an invoice is changed', async () => {
    await close()
    const faults: string[] = []
    const verify = () => verifyInvoices(db, keys, ({ fault }) => faults.push(fault))
    equal(await verify(), 1)
    deepEqual(faults, [])
    await db.updateTable('invoices').set({ total_micros: 5 }).execute()
    await verify()
    deepEqual(faults, ['it comes to 6 micro-units and not 5'])
    faults.length = 0
    const { note } = await db.selectFrom('invoices').select('note').executeTakeFirstOrThrow()
    await db
      .updateTable('invoices')
      .set({ total_micros: 6, note: note.replace('"tokens": 2', '"tokens": 3') })
      .execute()
    await verify()
    deepEqual(faults, ['it is not signed by this installation', 'its lines are not those of the ledger'])
  })

  test('the table and the page have every line, and texts of people as texts', async () => {
    const reason = '=1<script>'
    await addAccountEntry({ db, clock, currency: 'USD' }, operator, {
      organizationId,
      kind: 'adjustment',
      micros: -1,
      reason,
    })
    await close()
    const invoice = await read()
    const [, input, output, adjustment, total] = invoiceToCsv(invoice).split('\r\n')
    equal(input, '1,2027-03,input,hal-1.0,2,3000001,6.000002,USD')
    equal(output, '1,2027-03,output,hal-1.0,14,9,0.000126,USD')
    equal(adjustment, `1,2027-03,adjustment: ${reason},,,,-1,USD`)
    equal(total, '1,2027-03,total,,,,5,USD')
    const page = writeInvoicePage(invoice)
    ok(page.includes('<td align="right">0.000006000002 USD</td>'), page)
    equal(page.includes('<script>'), false)
  })

  const live = async (fromMs: number, ids: Readonly<Record<`org_${string}`, number>>) => {
    const span = { boot_id: 'boot_1', number: 0, subject: '', from_at: fromMs, ended_by: null }
    await db
      .insertInto('life_spans')
      .values({ ...span, until_at: start + 60 * day })
      .execute()
    for (const [id, created_at] of Object.entries(ids) as [`org_${string}`, number][])
      await db.insertInto('organizations').values({ id, name: id, created_at, disabled_at: null }).execute()
  }
  const noPause = () => Promise.resolve()
  const deleteRows = async (nowMs: number, daysMax: number) => {
    await rollUp(db)
    await reconcile({ db, clock }, noPause)
    return deleteOldRows(db, { nowMs, daysMax, pause: noPause })
  }

  test('no row is deleted before its month is invoiced for everybody, however short rows are kept', async () => {
    await live(start, { org_1: start - day, org_2: start - day })
    equal(await deleteRows(start + 30 * day, 1), 0)
    equal(await deleteRows(start + 40 * day, 1), 0)
    await close()
    equal(await deleteRows(start + 40 * day, 1), 0, 'the other organization has no invoice yet')
    await close({ organizationId: 'org_2' })
    equal(await deleteRows(start + 40 * day, 40), 0, 'younger than the rows that are kept')
    equal(await deleteRows(start + 40 * day, 1), 5, 'those of the month that is invoiced')
    equal((await db.selectFrom('ledger').select('request_id').execute()).length, 1)
  })

  test('rows of months that are never invoiced are deleted by their age', async () => {
    await live(Date.UTC(2027, 3, 1), { org_1: start - day })
    equal(await deleteRows(start + 40 * day, 1), 5)
  })

  test('who was there for the last moments of a month alone gets its invoice as everybody does', async () => {
    const endMs = Date.UTC(2027, 3, 1)
    await live(start, { org_1: start - day, org_2: endMs - 45_000, org_3: endMs })
    clock.advance(endMs - start + 7 * 3_600_000)
    const months = await closeMonths(parts(), signing)
    deepEqual(months, ['2027-03'])
    await closeInvoices({ ...parts(), log }, signing, months)
    const rows = await db.selectFrom('invoices').select(['organization_id', 'total_micros']).orderBy('number').execute()
    deepEqual(
      rows.map((row) => [row.organization_id, row.total_micros]),
      [
        ['org_1', 6],
        ['org_2', 3],
      ],
    )
  })

  test('another currency is refused while charges in the one before it have no invoice, and taken afterwards', async () => {
    await live(start, { org_1: start - day, org_2: start - day })
    const startIn = (currency: string) => requireCurrency({ db, clock, currency })
    clock.advance(40 * day)
    const refused = /billing\.currency is JPY, and charges in USD are not invoiced yet\. Set it back to USD/
    await startIn('USD')
    await rejects(startIn('JPY'), refused)
    await close()
    await close({ organizationId: 'org_2' })
    await rejects(startIn('JPY'), refused, 'there is a charge of the month after it')
    clock.advance(30 * day)
    await close({ month: '2027-04' })
    await rejects(startIn('JPY'), refused, 'the other organization has no invoice of that month')
    await close({ month: '2027-04', organizationId: 'org_2' })
    await startIn('JPY')
    await startIn('USD')
  })

  test('another currency is refused while what was paid in the one before it is not used up, and taken afterwards', async () => {
    await live(start, { org_1: start - day, org_2: start - day })
    const startIn = (currency: string) => requireCurrency({ db, clock, currency })
    await add('prepayment', 50)
    clock.advance(80 * day)
    const ofBoth = ['org_1', 'org_2'] as const
    for (const month of ['2027-03', '2027-04']) for (const of of ofBoth) await close({ month, organizationId: of })
    // Nine of them are used up: six in March and three in April.
    const refused = /billing\.currency is JPY, and org_1 has paid 0\.000041 USD that no invoice has used up/
    await rejects(startIn('JPY'), refused)
    await db.updateTable('account_entries').set({ currency: null }).execute()
    await rejects(startIn('JPY'), refused, 'one from before its currency was kept is in that of the prices of then')
    await db.updateTable('account_entries').set({ currency: 'USD' }).execute()
    await add('adjustment', 41)
    await rejects(startIn('JPY'), /in USD are not invoiced yet/, 'what was paid back stands on no invoice yet')
    await startIn('USD')
    clock.advance(31 * day)
    for (const of of ofBoth) await close({ month: '2027-05', organizationId: of })
    await startIn('JPY')
  })

  test('an invoice beyond the whole numbers of JavaScript has all its digits, as has what it takes of what was paid', async () => {
    const { id } = await db.selectFrom('prices').select('id').executeTakeFirstOrThrow()
    // Their sum is odd, which no number of that size is.
    const rows = Array.from({ length: 9 }, (_, number) => {
      const row = ledgerRow(100 + number)
      const used = { input_uncached: 0, input_cache_read: 0, input_cache_write: 0, output: 0 }
      const at = start + 20_000
      return { ...row, ...used, model: 'hal-1.0', at, price_id: id, cost_micros: 8e15 + 1, cost_rest_picos: 0 }
    })
    await insertRows(db, rows)
    for (let count = 0; count < 3; count += 1) await add('prepayment', 9e15)
    clock.advance(80 * day)
    await close()
    await close({ month: '2027-04' })
    const amounts = (await listInvoices(db, operator, organizationId)).map(({ totalMicros, prepaidMicros }) => [
      totalMicros,
      prepaidMicros,
    ])
    deepEqual(amounts, [
      ['3', '0'],
      ['72000000000000015', '27000000000000000'],
    ])
    const { rounding, dueMicros } = await read()
    deepEqual([rounding[0]?.micros, dueMicros], ['72000000000000009', '45000000000000015'])
    equal(await verifyInvoices(db, keys, ({ fault }) => ok(false, fault)), 2)
    await live(start, { org_1: start - day })
    await requireCurrency({ db, clock, currency: 'USD' })
  })

  test('an invoice that fails holds up nobody else, and its organization’s later months wait with it', async () => {
    await live(start, { org_1: start - day, org_2: start - day })
    clock.advance(70 * day)
    // What it is given back comes to more than 64 bits hold, so that the database refuses its invoice.
    const owed = {
      organization_id: 'org_1',
      month: '2027-03',
      model: 'hal-1.0',
      percent: 1,
      created_at: start,
    } as const
    await db
      .insertInto('credits')
      .values({ ...owed, micros: 2n ** 63n - 1n })
      .execute()
    await db
      .insertInto('credits')
      .values({ ...owed, model: 'hal-2.0', micros: 2n ** 63n - 1n })
      .execute()
    const closeAll = () => closeInvoices({ ...parts(), log }, signing, ['2027-03', '2027-04'])
    const written = async () =>
      (await db.selectFrom('invoices').select(['organization_id', 'month']).orderBy('number').execute()).map(
        (row) => `${row.organization_id} ${row.month}`,
      )
    await closeAll()
    deepEqual(await written(), ['org_2 2027-03', 'org_2 2027-04'])
    await db.deleteFrom('credits').execute()
    await closeAll()
    deepEqual((await written()).slice(2), ['org_1 2027-03', 'org_1 2027-04'])
  })

  test('an organization sees its own invoices alone', async () => {
    await close()
    const other = { kind: 'management-key', managementKeyId: 'mkey_1', organizationId: 'org_2', role: 'owner' } as const
    await rejects(listInvoices(db, other, organizationId), { name: 'ApiError' })
    await rejects(readInvoice(db, other, { organizationId: 'org_2', number: 1 }), { name: 'ApiError' })
    equal((await listInvoices(db, { ...other, organizationId }, organizationId)).length, 1)
  })
})
