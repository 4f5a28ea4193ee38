import type { Usage } from '../../core/generation.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { coveringMicros, picosPerMicro } from '../../core/money.ts'
import type { LedgerTable, PriceId } from '../../db/tables/billing.ts'

/** Micro-units of the currency per million tokens, for every kind of token: none can be left out, so none is free by accident. */
export type Rates = {
  readonly input: number
  readonly cacheRead: number
  /** Kept for five minutes, and for an hour. */
  readonly cacheWriteShort: number
  readonly cacheWriteLong: number
  readonly output: number
}

export type Price = {
  readonly id: PriceId
  /** Null is everyone without a price of their own. */
  readonly organizationId: OrganizationId | null
  readonly model: string
  readonly effectiveAtMs: number
  readonly currency: string
  /** Null ends the price that was in force, or cannot be used. */
  readonly rates: Rates | null
  readonly createdAtMs: number
  /** Why nothing can be billed by this row; null for a sound one. */
  readonly fault: string | null
}

/** A price that is in force. */
export type PriceInForce = Price & { readonly rates: Rates }

export type Charge = { readonly priceId: PriceId; readonly costPicos: bigint }

/**
 * The cost of a usage, exact: as rates are micro-units per million tokens, a token costs its rate in pico-units.
 */
export function costOfUsage(rates: Rates, usage: Usage): bigint {
  const { inputUncached, inputCacheRead, inputCacheWrite, inputCacheWriteLong, output } = usage
  const picos =
    times(inputUncached, rates.input) +
    times(inputCacheRead, rates.cacheRead) +
    times(inputCacheWrite - inputCacheWriteLong, rates.cacheWriteShort) +
    times(inputCacheWriteLong, rates.cacheWriteLong) +
    times(output, rates.output)
  toSafeNumber(picos / picosPerMicro)
  return picos
}

export type LargestRequest = {
  readonly inputTokens: number
  /** The tokens of all answers together. */
  readonly outputTokensMax: number
  /** What the request's cache marks ask for. */
  readonly cacheLifetimes: readonly ('5m' | '1h')[]
}

/** The most that a request can cost, in whole micro-units, whatever the cache holds; no usage within its bounds costs more. */
export function worstCaseCost(rates: Rates, { inputTokens, outputTokensMax, cacheLifetimes }: LargestRequest): number {
  const possible = [rates.input, rates.cacheRead]
  if (cacheLifetimes.includes('5m')) possible.push(rates.cacheWriteShort)
  if (cacheLifetimes.includes('1h')) possible.push(rates.cacheWriteLong)
  const picos = times(inputTokens, Math.max(...possible)) + times(outputTokensMax, rates.output)
  return toSafeNumber(coveringMicros(picos))
}

/** The charge for a request. One that the service failed costs nothing; without a price there is no charge at all. */
export function chargeFor(price: PriceInForce | null, usage: Usage, outcome: LedgerTable['outcome']): Charge | null {
  if (price === null) return null
  return { priceId: price.id, costPicos: outcome === 'failed' ? 0n : costOfUsage(price.rates, usage) }
}

function times(tokens: number, rate: number): bigint {
  return BigInt(tokens) * BigInt(rate)
}

function toSafeNumber(micros: bigint): number {
  const number = Number(micros)
  if (!Number.isSafeInteger(number)) throw new Error(`A cost of ${micros} micro-units cannot be recorded.`)
  return number
}
