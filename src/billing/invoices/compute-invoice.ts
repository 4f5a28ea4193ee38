import type { OrganizationId } from '../../core/ids.ts'
import { picosPerMicro, roundToMicros } from '../../core/money.ts'
import { amountText } from '../../db/tables/amount.ts'
import type { Database } from '../../db/database.ts'
import type { PriceId } from '../../db/tables/billing.ts'
import { periodOf } from '../availability/month.ts'
import type { Price } from '../prices/price.ts'
import { readPrices } from '../prices/prices.ts'
import { readAccountEntries, type AccountEntry } from './account-entries.ts'
import { readMonthSums, tokenKinds, type MonthSum, type TokenKind } from './month-sums.ts'

/** One kind of a model's tokens at one price. */
export type UsageLine = {
  readonly model: string
  readonly priceId: PriceId
  /** Since when the price has been in force. */
  readonly effectiveAtMs: number
  readonly kind: TokenKind
  /** Charged, less what was voided. */
  readonly tokens: number
  /** Micro-units per million tokens. */
  readonly rate: number
  readonly picos: bigint
}

/** What rows from when costs were rounded differ by from their tokens at their price. */
export type RoundingLine = { readonly model: string; readonly priceId: PriceId; readonly picos: bigint }

export type InvoiceContent = {
  readonly organizationId: OrganizationId
  readonly month: string
  readonly currency: string
  readonly requests: number
  /** Requests that were made while there was no price. */
  readonly unpriced: number
  readonly lines: readonly UsageLine[]
  readonly rounding: readonly RoundingLine[]
  /** The sum of the ledger, exact. */
  readonly chargesPicos: bigint
  readonly credits: readonly { readonly model: string; readonly percent: number; readonly micros: bigint }[]
  readonly adjustments: readonly AccountEntry[]
  readonly prepayments: readonly AccountEntry[]
  /** What was paid before and not used up by earlier invoices, with this month's prepayments. */
  readonly balanceMicros: bigint
  readonly totalMicros: bigint
  /** What of the total was paid before; the rest is due. */
  readonly prepaidMicros: bigint
}

export type InvoiceQuestion = Pick<InvoiceContent, 'organizationId' | 'month' | 'currency'>

/** Adds up what an organization owes for a month, from the ledger's rows. */
export async function computeInvoice(db: Database, question: InvoiceQuestion): Promise<InvoiceContent> {
  const { organizationId, month, currency } = question
  const period = periodOf(month)
  const sums = await readMonthSums(db, question)
  const prices = new Map((await readPrices(db, currency)).map((price) => [price.id, price]))
  const priced = sums.flatMap((sum) => (sum.priceId === null ? [] : [{ ...sum, priceId: sum.priceId }]))
  const lines = priced.flatMap((sum) => linesOf(sum, prices.get(sum.priceId)))
  const chargesPicos = priced.reduce((all, sum) => all + picosOf(sum), 0n)
  const credits = await readCredits(db, question)
  const entries = await readAccountEntries(db, organizationId, period)
  const adjustments = entries.filter(({ kind }) => kind === 'adjustment')
  const totalMicros = roundToMicros(chargesPicos) - sumOf(credits) + sumOf(adjustments)
  const balanceMicros = await readBalance(db, question)
  const used = totalMicros < balanceMicros ? totalMicros : balanceMicros
  return {
    ...question,
    requests: sums.reduce((all, { requests }) => all + requests, 0),
    unpriced: sums.reduce((all, { requests, priceId }) => all + (priceId === null ? requests : 0), 0),
    lines,
    rounding: priced.flatMap((sum) => roundingOf(sum, lines)),
    chargesPicos,
    credits,
    adjustments,
    prepayments: entries.filter(({ kind }) => kind === 'prepayment'),
    balanceMicros,
    totalMicros,
    prepaidMicros: used > 0n ? used : 0n,
  }
}

function picosOf({ costMicros, costRestPicos }: MonthSum): bigint {
  return costMicros * picosPerMicro + costRestPicos
}

type Priced = MonthSum & { readonly priceId: PriceId }

function linesOf({ model, priceId, tokens }: Priced, price: Price | undefined): UsageLine[] {
  const { rates, effectiveAtMs } = price ?? { rates: null, effectiveAtMs: 0 }
  // What it would have cost is not known; the whole of it is told as a difference.
  if (rates === null) return []
  return tokenKinds
    .filter((kind) => tokens[kind] !== 0)
    .map((kind) => {
      const [count, rate] = [tokens[kind], rates[kind]]
      return { model, priceId, effectiveAtMs, kind, tokens: count, rate, picos: BigInt(count) * BigInt(rate) }
    })
}

function roundingOf(sum: Priced, lines: readonly UsageLine[]): RoundingLine[] {
  const { model, priceId } = sum
  const own = lines.filter((line) => line.model === model && line.priceId === priceId)
  const picos = picosOf(sum) - own.reduce((all, line) => all + line.picos, 0n)
  return picos === 0n ? [] : [{ model, priceId, picos }]
}

async function readCredits(
  db: Database,
  { organizationId, month }: InvoiceQuestion,
): Promise<InvoiceContent['credits']> {
  const rows = await db
    .selectFrom('credits')
    .select(['model', 'percent', amountText('micros').as('micros')])
    .where('organization_id', '=', organizationId)
    .where('month', '=', month)
    .orderBy('model')
    .execute()
  return rows.map((row) => ({ ...row, micros: BigInt(row.micros) }))
}

/** All prepayments until the month's end, less what the invoices of earlier months have used of them. */
async function readBalance(db: Database, { organizationId, month }: InvoiceQuestion): Promise<bigint> {
  const until = { fromMs: 0, untilMs: periodOf(month).untilMs }
  const entries = await readAccountEntries(db, organizationId, until)
  const earlier = await db
    .selectFrom('invoices')
    .select(amountText('prepaid_micros').as('micros'))
    .where('organization_id', '=', organizationId)
    .where('month', '<', month)
    .execute()
  return sumOf(entries.filter(({ kind }) => kind === 'prepayment')) - sumOf(earlier)
}

function sumOf(rows: readonly { readonly micros: number | bigint | string }[]): bigint {
  return rows.reduce((all, { micros }) => all + BigInt(micros), 0n)
}
