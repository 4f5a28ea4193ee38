import type { Usage } from '../../core/generation.ts'
import type { OrganizationId } from '../../core/ids.ts'
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
  /** Null ends the price that was in force. */
  readonly rates: Rates | null
  readonly createdAtMs: number
}

/** A price that is in force. */
export type PriceInForce = Price & { readonly rates: Rates }

export type Charge = { readonly priceId: PriceId; readonly costMicros: number }

const tokensPerRate = 1_000_000n

/** What a usage costs: exact, and rounded once, to the nearest micro-unit, a half upwards. */
export function costOfUsage(rates: Rates, usage: Usage): number {
  const { inputUncached, inputCacheRead, inputCacheWrite, inputCacheWriteLong, output } = usage
  const exact =
    times(inputUncached, rates.input) +
    times(inputCacheRead, rates.cacheRead) +
    times(inputCacheWrite - inputCacheWriteLong, rates.cacheWriteShort) +
    times(inputCacheWriteLong, rates.cacheWriteLong) +
    times(output, rates.output)
  return toSafeNumber((exact + tokensPerRate / 2n) / tokensPerRate)
}

export type LargestRequest = {
  readonly inputTokens: number
  /** Of all answers together. */
  readonly outputTokensMax: number
  /** What the request's cache marks ask for. */
  readonly cacheLifetimes: readonly ('5m' | '1h')[]
}

/** The most that a request can cost, whatever the cache holds; no usage within its bounds costs more. */
export function worstCaseCost(rates: Rates, { inputTokens, outputTokensMax, cacheLifetimes }: LargestRequest): number {
  const possible = [rates.input, rates.cacheRead]
  if (cacheLifetimes.includes('5m')) possible.push(rates.cacheWriteShort)
  if (cacheLifetimes.includes('1h')) possible.push(rates.cacheWriteLong)
  const exact = times(inputTokens, Math.max(...possible)) + times(outputTokensMax, rates.output)
  return toSafeNumber((exact + tokensPerRate - 1n) / tokensPerRate)
}

/** What a request is charged. One that failed on our side costs nothing; without a price there is no charge at all. */
export function chargeFor(price: PriceInForce | null, usage: Usage, outcome: LedgerTable['outcome']): Charge | null {
  if (price === null) return null
  return { priceId: price.id, costMicros: outcome === 'failed' ? 0 : costOfUsage(price.rates, usage) }
}

function times(tokens: number, rate: number): bigint {
  return BigInt(tokens) * BigInt(rate)
}

function toSafeNumber(micros: bigint): number {
  const number = Number(micros)
  if (!Number.isSafeInteger(number)) throw new Error(`A cost of ${micros} micro-units cannot be recorded.`)
  return number
}
