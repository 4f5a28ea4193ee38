import type { OrganizationId } from '../../core/ids.ts'
import type { Price, PriceInForce } from './price.ts'

export interface PriceBook {
  /** The price of a request that is admitted at that time; null where there is none. */
  find(organizationId: OrganizationId, model: string, atMs: number): PriceInForce | null
}

/** Finds prices in memory. An organization's own price counts whole: no rate of the general one is mixed in. */
export function createPriceBook(prices: readonly Price[]): PriceBook {
  const byScope = Map.groupBy(prices.toSorted(inOrder), ({ organizationId, model }) => scopeKey(organizationId, model))
  const latest = (organizationId: OrganizationId | null, model: string, atMs: number): PriceInForce | null => {
    const last = byScope.get(scopeKey(organizationId, model))?.findLast(({ effectiveAtMs }) => effectiveAtMs <= atMs)
    return last === undefined || last.rates === null ? null : { ...last, rates: last.rates }
  }
  return {
    find: (organizationId, model, atMs) => latest(organizationId, model, atMs) ?? latest(null, model, atMs),
  }
}

/** Of two prices for the same moment the one that was made later counts. */
function inOrder(a: Price, b: Price): number {
  return a.effectiveAtMs - b.effectiveAtMs || a.createdAtMs - b.createdAtMs
}

function scopeKey(organizationId: OrganizationId | null, model: string): string {
  return `${organizationId ?? ''} ${model}`
}
