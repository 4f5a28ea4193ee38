import type { Price } from '../queries.ts'

/** Those that have begun, by model: the organization's own where it has one, else everybody's. */
export function priceInForce(
  prices: readonly Price[],
  organizationId: string | null,
): (model: string) => Price | undefined {
  const now = Date.now()
  const begun = prices
    .filter(({ effectiveAt }) => Date.parse(effectiveAt) <= now)
    .toSorted((one, other) => Date.parse(other.effectiveAt) - Date.parse(one.effectiveAt))
  return (model) => {
    const own = begun.find((price) => price.model === model && price.organizationId === organizationId)
    return own?.rates ? own : begun.find((one) => one.model === model && one.organizationId === null)
  }
}
