import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { rerate, type Rerating } from '../../billing/audits/rerate.ts'
import { listAuditKeys } from '../../accounts/transparency/signing-keys.ts'
import { verifyInvoices } from '../../billing/invoices/verify-invoices.ts'
import { verifyLedger } from '../../billing/audits/verify-ledger.ts'
import type { Price } from '../../billing/prices/price.ts'
import { scopeOf } from '../../billing/prices/price-book.ts'
import { ratesSchema, readPrices } from '../../billing/prices/prices.ts'
import { modelIds } from '../../core/model.ts'
import { withInstallation } from '../accounts/with-installation.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { formatExact, formatRounded, parseMicros } from './money-text.ts'
import { invoiceActions, invoiceOptions } from './invoice-actions.ts'
import { parsePeriod, periodOptions } from './period.ts'
import { textTable } from './text-table.ts'
import { writeOut } from './write-out.ts'

const options = {
  ...periodOptions,
  ...invoiceOptions,
  'dry-run': { type: 'boolean', default: false },
  prices: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

type Values = ReturnType<typeof parseArguments<{ args: string[]; options: typeof options }>>['values']

const words = { verify: 0, rerate: 0, invoices: 0, invoice: 1, prepay: 0, adjust: 0 }

/** `odyssey bill`: whether the ledger is right to the last unit, and what it would be at other prices. */
export async function billCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options, words })
  const [action = '', subject] = positionals
  const ofInvoices = Object.hasOwn(invoiceActions, action) ? invoiceActions[action] : undefined
  if (ofInvoices !== undefined)
    await withInstallation((installation, { billing: { currency } }) =>
      ofInvoices(installation, { subject, values, currency }),
    )
  else if (action === 'verify') await verify(values.json)
  else if (action === 'rerate') await rerateRange(values)
  else throw new UsageError(`bill takes verify, rerate, ${Object.keys(invoiceActions).join(', ')}.`)
}

/** Ends with 1 when anything is wrong. */
async function verify(asJson: boolean): Promise<void> {
  await withInstallation(async ({ db }, config) => {
    const verdict = await verifyLedger({ db, ...config.billing }, (fault) => {
      const { sequence, subject, fault: words } = fault
      const where = sequence === null ? subject : `row ${sequence}, ${subject}`
      console.log(asJson ? JSON.stringify(fault) : `${where}: ${words}`)
    })
    const keys = (await listAuditKeys(db)).map(({ publicKey }) => publicKey)
    let wrong = 0
    const invoices = await verifyInvoices(db, keys, (fault) => {
      wrong += 1
      console.log(asJson ? JSON.stringify(fault) : `invoice ${fault.number}: ${fault.fault}`)
    })
    const { rows } = verdict
    const faults = verdict.faults + wrong
    const cost = formatExact(verdict.costPicos)
    const sum = `${rows} rows, ${formatRounded(verdict.costPicos)} ${config.billing.currency}`
    const end = asJson
      ? JSON.stringify({ rows, cost, currency: config.billing.currency, invoices, faults })
      : `${sum}, ${invoices} invoices: ${faults === 0 ? 'every row and every sum is right' : `${faults} differ`}.`
    await writeOut(`${end}\n`)
    if (faults > 0) process.exitCode = 1
  })
}

async function rerateRange(values: Values): Promise<void> {
  if (!values['dry-run']) throw new UsageError('bill rerate changes nothing and takes --dry-run, to say so.')
  const range = parsePeriod(values)
  await withInstallation(async ({ db }, config) => {
    const { currency } = config.billing
    const prices =
      values.prices === undefined ? latest(await readPrices(db, currency)) : readPriceFile(values.prices, currency)
    const sums = await rerate(db, prices, range)
    if (values.json) return writeOut(`${JSON.stringify(sums.map((sum) => toShown(sum, formatExact)))}\n`)
    const head = ['organization', 'model', 'requests', `charged ${currency}`, `would be ${currency}`, 'difference']
    const lines = sums.map((sum) => Object.values(toShown(sum, formatRounded)).map(String))
    await writeOut(`${textTable([head, ...lines])}\n`)
  })
}

function toShown(
  { organizationId, model, requests, chargedPicos, wouldPicos }: Rerating,
  format: (picos: bigint) => string,
) {
  const [charged, would] = [format(chargedPicos), format(wouldPicos)]
  return { organizationId, model, requests, charged, would, difference: format(wouldPicos - chargedPicos) }
}

/** The prices that were set last, as if they had always been in force. */
function latest(prices: readonly Price[]): Price[] {
  const sound = prices.filter(({ fault }) => fault === null)
  const byScope = new Map(sound.map((price) => [scopeOf(price), price]))
  return [...byScope.values()].map((price) => ({ ...price, effectiveAtMs: 0 }))
}

const amount = z.union([z.string(), z.number()]).transform((text) => parseMicros(String(text), 'A rate'))
const rates = z.strictObject({
  input: amount,
  cacheRead: amount,
  cacheWriteShort: amount,
  cacheWriteLong: amount,
  output: amount,
})
const priceFile = z.partialRecord(z.enum(modelIds), rates.pipe(ratesSchema))

/** Rates per million tokens by model, for everyone. */
function readPriceFile(path: string, currency: string): Price[] {
  const parsed = priceFile.safeParse(JSON.parse(readFileSync(path, 'utf8')))
  if (!parsed.success) throw new UsageError(`${path} cannot be used:\n${z.prettifyError(parsed.error)}`)
  return Object.entries(parsed.data).map(([model, perMillion]) => ({
    id: `price_${model}` as const,
    organizationId: null,
    model,
    effectiveAtMs: 0,
    currency,
    createdAtMs: 0,
    fault: null,
    rates: perMillion,
  }))
}
