import type { Usage } from '../core/generation.ts'

/**
 * An answer's token takes a step of its own where a prompt's are computed by the
 * hundred. Four is the middle of what price lists ask for one over the other.
 */
const outputWeight = 4
/** Held tokens are only brought back and attended to; price lists ask a tenth for that. */
const cacheReadWeight = 0.1

/** What a request takes of an engine, in computed prompt tokens. */
export function serviceCost({ inputUncached, inputCacheWrite, inputCacheRead, output }: Usage): number {
  return inputUncached + inputCacheWrite + inputCacheRead * cacheReadWeight + outputCost(output)
}

export function outputCost(tokens: number): number {
  return tokens * outputWeight
}
