import { z } from 'zod'
import { requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import { change, installationChain, type ChangeParts } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import type { PriceId, PriceTable } from '../../db/tables/billing.ts'
import { randomId } from '../../lib/random-id.ts'
import type { Price, Rates } from './price.ts'

/**
 * How far ahead a price has to be set: every running service has read it before it is in force.
 * They look every few seconds.
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

const rowSchema = z.object({ currency: z.string().regex(/^[A-Z]{3}$/), effective_at: z.int(), created_at: z.int() })

export type NewPrice = Pick<Price, 'organizationId' | 'model' | 'currency' | 'rates'> & {
  /** Null is as soon as possible. */
  readonly effectiveAtMs: number | null
}

/** Adds a price, which only the installation may. Those before it stay as they are: rows of the ledger point to them. */
export async function setPrice(parts: ChangeParts, principal: Principal, price: NewPrice): Promise<Price> {
  requirePermission(principal, 'prices:update', { organizationId: null })
  const { organizationId, model, currency } = price
  const rates = price.rates === null ? null : ratesSchema.parse(price.rates)
  const earliestMs = parts.clock.nowMs() + priceLeadMs
  const effectiveAtMs = price.effectiveAtMs ?? earliestMs
  if (effectiveAtMs < earliestMs) throw new TooEarly()
  const id: PriceId = `price_${randomId()}`
  const target = { action: 'prices:set', organizationId: organizationId ?? installationChain, target: id }
  return change(parts, principal, target, async (transaction, note) => {
    const last = await transaction
      .selectFrom('prices')
      .select('created_at')
      .orderBy('created_at', 'desc')
      .executeTakeFirst()
    // Two prices for the same moment are told apart by which of them was made later.
    const createdAtMs = Math.max(parts.clock.nowMs(), (last?.created_at ?? 0) + 1)
    const made: Price = { id, organizationId, model, effectiveAtMs, currency, rates, createdAtMs }
    await transaction.insertInto('prices').values(toRow(made)).execute()
    note(null, made)
    return made
  })
}

export class TooEarly extends Error {
  override readonly name = 'TooEarly'

  constructor() {
    super(`A price can be in force ${priceLeadMs / 1_000} seconds from now at the earliest.`)
  }
}

/** The prices of everyone and the principal's own, by when they are in force. */
export async function listPrices(db: Database, principal: Principal): Promise<Price[]> {
  const own = principal.kind === 'operator' ? null : principal.organizationId
  requirePermission(principal, 'prices:read', { organizationId: own })
  const prices = await readPrices(db)
  return prices.filter(({ organizationId }) => own === null || organizationId === null || organizationId === own)
}

/** Every price there ever was, oldest first. Throws where one of them cannot be used, so that nothing is billed by it. */
export async function readPrices(db: Database): Promise<Price[]> {
  const rows = await db.selectFrom('prices').selectAll().orderBy('effective_at').orderBy('created_at').execute()
  return rows.map(fromRow)
}

/** Changes whenever a price is added. */
export async function readPricesVersion(db: Database): Promise<number> {
  const row = await db
    .selectFrom('prices')
    .select(({ fn }) => fn.max('created_at').as('version'))
    .executeTakeFirst()
  return row?.version ?? 0
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

function fromRow(row: PriceTable): Price {
  const rates: Rates = {
    input: row.input,
    cacheRead: row.cache_read,
    cacheWriteShort: row.cache_write_short,
    cacheWriteLong: row.cache_write_long,
    output: row.output,
  }
  const fault = rowSchema.safeParse(row).error ?? ratesSchema.safeParse(rates).error
  if (fault !== undefined) {
    throw new Error(`The price ${row.id} of ${row.model} cannot be used:\n${z.prettifyError(fault)}`, { cause: fault })
  }
  return {
    id: row.id,
    organizationId: row.organization_id,
    model: row.model,
    effectiveAtMs: row.effective_at,
    currency: row.currency,
    rates: row.is_end === 1 ? null : rates,
    createdAtMs: row.created_at,
  }
}
