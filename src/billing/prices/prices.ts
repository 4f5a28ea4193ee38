import type { Transaction } from 'kysely'
import { z } from 'zod'
import type { OrganizationId } from '../../core/ids.ts'
import { notFound, requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import { lockChainEnd } from '../../db/audit-chain.ts'
import { change, installationChain, type ChangeParts } from '../../db/change.ts'
import { countChange } from '../../db/changes.ts'
import type { Database } from '../../db/database.ts'
import type { Tables } from '../../db/tables.ts'
import type { PriceId, PriceTable } from '../../db/tables/billing.ts'
import { randomId } from '../../lib/random-id.ts'
import type { Price, Rates } from './price.ts'

/**
 * How far ahead a price has to be set: every running service has read it before it is in force.
 * They hear of it within a second.
 */
export const priceLeadMs = 10_000

/** A unit of the currency for a single token; more is a typing error. */
const rateMax = 1_000_000_000_000
const rate = z.int().min(0).max(rateMax)

/** Every rate has to be there: one that is missing is a fault and not free of charge. */
export const ratesSchema = z
  .strictObject({ input: rate, cacheRead: rate, cacheWriteShort: rate, cacheWriteLong: rate, output: rate })
  .refine(({ input, cacheRead }) => cacheRead <= input, {
    path: ['cacheRead'],
    message: 'Input from the cache cannot cost more than other input.',
  })

const rowSchema = z.object({ effective_at: z.int(), created_at: z.int() })

export type PriceParts = ChangeParts & {
  /** The installation's: an installation has one. */
  readonly currency: string
}

export type NewPrice = Pick<Price, 'organizationId' | 'model' | 'rates'> & {
  /** The installation's where it is left out; no other is taken. */
  readonly currency?: string | undefined
  /** Null is as soon as possible. */
  readonly effectiveAtMs: number | null
}

/** Adds a price, which only the installation may. Those before it stay as they are: rows of the ledger point to them. */
export async function setPrice(parts: PriceParts, principal: Principal, price: NewPrice): Promise<Price> {
  requirePermission(principal, 'prices:update', { organizationId: null })
  const { organizationId, model, currency = parts.currency } = price
  if (currency !== parts.currency) throw new ForeignCurrency(currency, parts.currency)
  const rates = price.rates === null ? null : ratesSchema.parse(price.rates)
  const id: PriceId = `price_${randomId()}`
  const target = { action: 'prices:set', organizationId: organizationId ?? installationChain, target: id }
  return change(parts, principal, target, async (transaction, note) => {
    await takeTurn(transaction, target.organizationId)
    const nowMs = parts.clock.nowMs()
    const effectiveAtMs = price.effectiveAtMs ?? nowMs + priceLeadMs
    if (effectiveAtMs < nowMs + priceLeadMs) throw new TooEarly()
    const last = await transaction
      .selectFrom('prices')
      .select('created_at')
      .orderBy('created_at', 'desc')
      .executeTakeFirst()
    // Two prices for the same moment are told apart by which of them was made later.
    const createdAtMs = Math.max(nowMs, (last?.created_at ?? 0) + 1)
    const made: Price = { id, organizationId, model, effectiveAtMs, currency, rates, createdAtMs, fault: null }
    await transaction.insertInto('prices').values(toRow(made)).execute()
    note(null, made)
    return made
  })
}

/**
 * Takes back a price before it is in force, while every running service can still hear of it; one that cannot be used at
 * any time, unless the ledger names it. What it was stands in the audit.
 */
export async function voidPrice(parts: PriceParts, principal: Principal, id: string): Promise<void> {
  requirePermission(principal, 'prices:update', { organizationId: null })
  const price = (await readPrices(parts.db, parts.currency)).find((known) => known.id === id)
  if (price === undefined) throw notFound()
  const isNamed = price.fault !== null && (await isInLedger(parts.db, price.id))
  const target = { action: 'prices:void', organizationId: price.organizationId ?? installationChain, target: id }
  await change(parts, principal, target, async (transaction, note) => {
    await takeTurn(transaction, target.organizationId)
    const isAhead = price.effectiveAtMs >= parts.clock.nowMs() + priceLeadMs
    if (!isAhead && (price.fault === null || isNamed)) throw new NotVoidable()
    const { numDeletedRows } = await transaction.deleteFrom('prices').where('id', '=', price.id).executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound()
    note(price, null)
  })
}

/**
 * Counts the change, and waits for whoever changes prices or writes to the chain at the moment. What the clock says
 * before that may be long past when the price is committed, and no service would have heard of it in time.
 */
async function takeTurn(transaction: Transaction<Tables>, chain: OrganizationId): Promise<void> {
  await lockChainEnd(transaction, chain)
  await countChange(transaction, 'prices')
}

async function isInLedger(db: Database, id: PriceId): Promise<boolean> {
  const row = await db.selectFrom('ledger').select('sequence').where('price_id', '=', id).limit(1).executeTakeFirst()
  return row !== undefined
}

export class NotVoidable extends Error {
  override readonly name = 'NotVoidable'

  constructor() {
    super(`A price can be voided until ${priceLeadMs / 1_000} seconds before it is in force; set another to follow it.`)
  }
}

export class ForeignCurrency extends Error {
  override readonly name = 'ForeignCurrency'

  constructor(given: string, own: string) {
    super(`This installation has its prices in ${own} and not in ${given}.`)
  }
}

export class TooEarly extends Error {
  override readonly name = 'TooEarly'

  constructor() {
    super(`A price can be in force ${priceLeadMs / 1_000} seconds from now at the earliest.`)
  }
}

/** The prices of everyone and the principal's own, by when they are in force. */
export async function listPrices(
  { db, currency }: Pick<PriceParts, 'db' | 'currency'>,
  principal: Principal,
): Promise<Price[]> {
  const own = principal.kind === 'operator' ? null : principal.organizationId
  requirePermission(principal, 'prices:read', { organizationId: own })
  const prices = await readPrices(db, currency)
  return prices.filter(({ organizationId }) => own === null || organizationId === null || organizationId === own)
}

/** Every price there ever was, oldest first. One that is damaged or in another currency has its fault and no rates. */
export async function readPrices(db: Database, currency: string): Promise<Price[]> {
  return (await readRows(db)).map((row) => fromRow(row, currency))
}

/** As `readPrices`, with the rates of prices in other currencies: what was billed by them stays right. */
export async function readPricesOfAllCurrencies(db: Database): Promise<Price[]> {
  return (await readRows(db)).map((row) => fromRow(row, row.currency))
}

function readRows(db: Database): Promise<PriceTable[]> {
  return db.selectFrom('prices').selectAll().orderBy('effective_at').orderBy('created_at').execute()
}

/** Why nothing can be billed by a price where that is its currency; what ends a price has no amounts, and so is in none. */
export function foreignFault({ currency: own, rates }: Pick<Price, 'currency' | 'rates'>, currency: string) {
  return rates === null || own === currency ? null : `it is in ${own} and billing.currency is ${currency}`
}

function toRow({ id, organizationId, model, effectiveAtMs, currency, rates, createdAtMs }: Price): PriceTable {
  return {
    id,
    organization_id: organizationId,
    model,
    effective_at: effectiveAtMs,
    currency,
    is_end: rates === null ? 1 : 0,
    input: rates?.input ?? 0,
    cache_read: rates?.cacheRead ?? 0,
    cache_write_short: rates?.cacheWriteShort ?? 0,
    cache_write_long: rates?.cacheWriteLong ?? 0,
    output: rates?.output ?? 0,
    created_at: createdAtMs,
  }
}

function fromRow(row: PriceTable, currency: string): Price {
  const rates: Rates = {
    input: row.input,
    cacheRead: row.cache_read,
    cacheWriteShort: row.cache_write_short,
    cacheWriteLong: row.cache_write_long,
    output: row.output,
  }
  const damage = rowSchema.safeParse(row).error ?? ratesSchema.safeParse(rates).error
  const written = { currency: row.currency, rates: row.is_end === 1 ? null : rates }
  const fault = damage === undefined ? foreignFault(written, currency) : z.prettifyError(damage)
  return {
    id: row.id,
    organizationId: row.organization_id,
    model: row.model,
    effectiveAtMs: row.effective_at,
    currency: written.currency,
    rates: fault === null ? written.rates : null,
    createdAtMs: row.created_at,
    fault,
  }
}
