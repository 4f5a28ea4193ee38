import { isDeepStrictEqual } from 'node:util'
import type { OrganizationId } from '../../core/ids.ts'
import type { Price, Rates } from './price.ts'
import { createPriceBook } from './price-book.ts'

/** What a model costs from a moment on; null where nothing is charged for it. */
export type PriceStep = { readonly fromMs: number; readonly rates: Rates | null }

export type PriceCourse = {
  /** Null where there was never a price. */
  readonly current: PriceStep | null
  /** The later moments at which it really changes, in their order. */
  readonly announced: readonly PriceStep[]
}

export type PriceCourseQuery = {
  /** Null is whoever has no price of their own. */
  readonly organizationId: OrganizationId | null
  readonly model: string
  readonly nowMs: number
}

/**
 * What a model costs an organization, now and later. A row alone does not say it: while an own price counts, a general
 * one changes nothing, and where the own one ends the general one counts again.
 */
export function findPriceCourse(
  prices: readonly Price[],
  { organizationId, model, nowMs }: PriceCourseQuery,
): PriceCourse {
  // What cannot be used will be corrected before it counts, and is nothing to go by.
  const usable = prices.filter(
    (price) =>
      price.fault === null &&
      price.model === model &&
      (price.organizationId === null || price.organizationId === organizationId),
  )
  const book = createPriceBook(usable)
  const moments = new Set(usable.map(({ effectiveAtMs }) => effectiveAtMs))
  const steps: PriceStep[] = []
  for (const fromMs of [...moments].toSorted((one, other) => one - other)) {
    const rates = book.find(organizationId, model, fromMs)?.rates ?? null
    if (!isDeepStrictEqual(rates, steps.at(-1)?.rates ?? null)) steps.push({ fromMs, rates })
  }
  return {
    current: steps.findLast(({ fromMs }) => fromMs <= nowMs) ?? null,
    announced: steps.filter(({ fromMs }) => fromMs > nowMs),
  }
}
