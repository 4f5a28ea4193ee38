import type { Price } from '../queries.ts'

/** Of two for one moment the later made one counts, and so comes first. */
export function newestFirst(one: Price, other: Price): number {
  const byMoment = Date.parse(other.effectiveAt) - Date.parse(one.effectiveAt)
  return byMoment || Date.parse(other.createdAt) - Date.parse(one.createdAt)
}

/** Those that have begun, by model: the organization's own where it has one, else everybody's. */
export function priceInForce(
  prices: readonly Price[],
  organizationId: string | null,
): (model: string) => Price | undefined {
  const now = Date.now()
  const begun = prices.filter(({ effectiveAt }) => Date.parse(effectiveAt) <= now).toSorted(newestFirst)
  return (model) => {
    const own = begun.find((price) => price.model === model && price.organizationId === organizationId)
    return own?.rates ? own : begun.find((one) => one.model === model && one.organizationId === null)
  }
}
