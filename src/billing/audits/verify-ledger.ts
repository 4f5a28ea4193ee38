import type { Database } from '../../db/database.ts'
import { isPostgres } from '../../db/is-postgres.ts'
import { foreignFault, readPricesOfAllCurrencies } from '../prices/prices.ts'
import { readLedger, type LedgerRow } from '../ledger/read-ledger.ts'
import type { PriceId } from '../../db/tables/billing.ts'
import type { Price, PriceInForce } from '../prices/price.ts'
import { createPriceBook, scopeOf, UnusablePrice } from '../prices/price-book.ts'
import { fromCostColumns } from '../ledger/cost-columns.ts'
import { tokenColumns } from '../ledger/token-columns.ts'
import { picosPerMicro, roundToMicros, toMicrosText } from '../../core/money.ts'
import { costOfRow } from './rerate.ts'
import { sql } from 'kysely'
import { bucketOfLedger, dayMs, summedColumns, type SummedColumn, type UsageTableName } from '../usage/usage-columns.ts'

export type LedgerFault = {
  /** The row's sequence number; null for a fault of the rollups or of a price. */
  readonly sequence: number | null
  readonly subject: string
  readonly fault: string
}

export type LedgerVerdict = { readonly rows: number; readonly costPicos: bigint; readonly faults: number }

export type LedgerToVerify = {
  readonly db: Database
  readonly currency: string
  /** Whether a row without a price is a fault. */
  readonly pricesRequired?: boolean
}

/**
 * Replays the ledger: the cost of every row from its price, the order of the
 * rows, and the rollups from the rows. It may run beside a service.
 */
export async function verifyLedger(
  { db, currency, pricesRequired = false }: LedgerToVerify,
  report: (fault: LedgerFault) => void,
): Promise<LedgerVerdict> {
  const verdict = { rows: 0, costPicos: 0n, faults: 0 }
  const tell = (fault: LedgerFault) => {
    verdict.faults += 1
    report(fault)
  }
  const prices = await readPricesOfAllCurrencies(db)
  const last = new Map(prices.map((price) => [scopeOf(price), price]))
  for (const price of prices) {
    // One in another currency is done with once another has followed it.
    const fault = price.fault ?? (last.get(scopeOf(price)) === price ? foreignFault(price, currency) : null)
    if (fault !== null) tell({ sequence: null, subject: price.id, fault: `cannot be used: ${fault}` })
  }
  const replay = createReplay(db, createRowVerifier(prices, pricesRequired), tell)
  const sums: UsageSums = new Map()
  let verifiedTo = 0
  // A service that goes on rolling up is followed until both stand at the same row.
  for (;;) {
    const { keptFromMs, rolledUpTo, days, hours } = await readRolledUp(db)
    for await (const page of readLedger(db, { afterSequence: verifiedTo, toSequence: rolledUpTo })) {
      for (const row of page) replay(row, verdict)
      for (const row of page.filter(({ at }) => at >= keptFromMs)) addRow(sums, row)
    }
    const isCurrent = verifiedTo === rolledUpTo
    verifiedTo = rolledUpTo
    if (!isCurrent) continue
    for (const [name, rolledUp] of [
      ['usage_days', days],
      ['usage_hours', hours],
    ] as const) {
      for (const fault of compareSums(sums, rolledUp)) tell({ sequence: null, subject: name, fault })
    }
    break
  }
  for await (const page of readLedger(db, { afterSequence: verifiedTo })) for (const row of page) replay(row, verdict)
  return verdict
}

function createReplay(db: Database, verifyRow: VerifyRow, tell: (fault: LedgerFault) => void) {
  // PostgreSQL spends numbers on rows that turn out to be there already; SQLite does not.
  const isGapless = !isPostgres(db)
  let before: number | null = null
  return (row: LedgerRow, verdict: { rows: number; costPicos: bigint }) => {
    const subject = `${row.request_id} (${row.kind})`
    if (isGapless && before !== null && row.sequence !== before + 1) {
      tell({ sequence: row.sequence, subject, fault: `the rows from ${before + 1} to ${row.sequence - 1} are missing` })
    }
    before = row.sequence
    const fault = verifyRow(row)
    if (fault !== null) tell({ sequence: row.sequence, subject, fault })
    verdict.rows += 1
    verdict.costPicos += fromCostColumns(row) ?? 0n
  }
}

/** Says what is wrong with a row; null where its cost is what its price and its tokens make it. */
export type VerifyRow = (row: LedgerRow) => string | null

export function createRowVerifier(prices: readonly Price[], pricesRequired: boolean): VerifyRow {
  const byId = new Map(prices.map((price) => [price.id, price]))
  const book = createPriceBook(prices)
  const priceInForce = (row: LedgerRow): PriceId | null => {
    if (row.admitted_at === null) return row.price_id
    try {
      return book.find(row.organization_id, row.model, row.admitted_at)?.id ?? null
    } catch (error) {
      // The row that was in force is named, and that it cannot be used is a fault of its own.
      if (error instanceof UnusablePrice) return error.price.id
      throw error
    }
  }
  return (row) => {
    const sign = row.kind === 'reversal' ? -1 : 1
    if (tokenColumns.some((column) => row[column] * sign < 0)) return 'its tokens have the wrong sign'
    const inForce = priceInForce(row)
    if (inForce !== row.price_id) {
      return `when it was admitted the price was ${inForce ?? 'none'} and not ${row.price_id ?? 'none'}`
    }
    if (row.price_id === null) {
      if (row.cost_micros !== null || row.cost_rest_picos !== null) return 'it has a cost and no price'
      // What failed would have cost nothing.
      return pricesRequired && row.outcome !== 'failed' ? 'it has no price, and billing.pricesRequired is set' : null
    }
    return faultOfCost(row, byId.get(row.price_id))
  }
}

function faultOfCost(row: LedgerRow, price: Price | undefined): string | null {
  if (price === undefined) return `its price ${row.price_id} does not exist`
  if (!isInForce(price)) return `its price ${price.id} has no rates`
  if (price.model !== row.model) return `its price is that of ${price.model}`
  if (price.organizationId !== null && price.organizationId !== row.organization_id) {
    return `its price is that of ${price.organizationId}`
  }
  const exact = costOfRow(row, price)
  // Costs were once rounded to whole micro-units when they were written, and stay what was billed.
  const cost = row.cost_rest_picos === null ? roundToMicros(exact) * picosPerMicro : exact
  const found = fromCostColumns(row)
  if (cost === found) return null
  return `it costs ${toMicrosText(cost)} micro-units and not ${found === null ? 'null' : toMicrosText(found)}`
}

function isInForce(price: Price): price is PriceInForce {
  return price.rates !== null
}

/** The sums of a day, by organization, project, key and model. */
export type UsageSums = Map<string, Record<SummedColumn, number>>

type SumKey = Pick<LedgerRow, 'organization_id' | 'project_id' | 'api_key_id' | 'model' | 'at'>

/** Adds a ledger row, without the database: what is checked here must not be made by the same statement. */
export function addRow(sums: UsageSums, row: LedgerRow): void {
  const key = keyOf({ ...row, at: row.at - (row.at % dayMs) })
  const sum = sums.get(key) ?? zeroSums()
  const isCharge = row.kind === 'charge'
  sum.requests += isCharge ? 1 : 0
  sum.reversed += isCharge ? 0 : 1
  if (isCharge) sum[row.outcome] += 1
  sum.unpriced += isCharge && row.price_id === null ? 1 : 0
  sum.cost_micros += row.cost_micros ?? 0
  sum.cost_rest_picos += row.cost_rest_picos ?? 0
  for (const column of tokenColumns) sum[column] += row[column]
  sums.set(key, sum)
}

export type RolledUp = {
  /** The rollups contain the ledger up to this row. */
  readonly rolledUpTo: number
  /** The first day whose rows are all there: those of earlier days may have been deleted. */
  readonly keptFromMs: number
  readonly days: UsageSums
  /** The hours, added up by the day. */
  readonly hours: UsageSums
}

/** Reads both rollups as they stood at one row of the ledger. */
export async function readRolledUp(db: Database): Promise<RolledUp> {
  for (;;) {
    const before = await readProgress(db)
    const days = await readSums(db, 'usage_days', before.keptFromMs)
    const hours = await readSums(db, 'usage_hours', before.keptFromMs)
    const after = await readProgress(db)
    // A roll-up that came in between is over soon; the next attempt finds a quiet moment.
    if (after.rolledUpTo === before.rolledUpTo && after.keptFromMs === before.keptFromMs)
      return { ...before, days, hours }
  }
}

async function readProgress(db: Database): Promise<{ rolledUpTo: number; keptFromMs: number }> {
  const row = await db.selectFrom('ledger_progress').select(['rolled_up_to', 'kept_from']).executeTakeFirstOrThrow()
  return { rolledUpTo: row.rolled_up_to, keptFromMs: row.kept_from }
}

async function readSums(db: Database, table: UsageTableName, keptFromMs: number): Promise<UsageSums> {
  const day = bucketOfLedger(dayMs)
  const sums = summedColumns.map((column) => sql`cast(sum(${sql.ref(column)}) as bigint) as ${sql.ref(column)}`)
  const { rows } = await sql<SumKey & Record<SummedColumn, number>>`
    select organization_id, project_id, api_key_id, model, ${day} as at, ${sql.join(sums)}
    from ${sql.table(table)} where at >= ${keptFromMs} group by organization_id, project_id, api_key_id, model, ${day}`.execute(
    db,
  )
  return new Map(rows.map((row) => [keyOf(row), row]))
}

/** Yields one sentence for each sum that differs. */
export function* compareSums(expected: UsageSums, found: UsageSums): Generator<string> {
  for (const key of new Set([...expected.keys(), ...found.keys()])) {
    const [ledger, rollup] = [expected.get(key) ?? zeroSums(), found.get(key) ?? zeroSums()]
    for (const column of summedColumns) {
      if (ledger[column] !== rollup[column]) {
        yield `${key}: ${column} is ${rollup[column]} and in the ledger ${ledger[column]}`
      }
    }
  }
}

function keyOf({ organization_id: organization, project_id: project, api_key_id: key, model, at }: SumKey): string {
  return `${new Date(at).toISOString().slice(0, 10)} ${organization} ${project} ${key} ${model}`
}

function zeroSums(): Record<SummedColumn, number> {
  return Object.fromEntries(summedColumns.map((column) => [column, 0])) as Record<SummedColumn, number>
}
