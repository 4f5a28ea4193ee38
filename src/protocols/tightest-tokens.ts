import type { LimitSnapshot, LimitState } from '../core/limit.ts'

/** Of the limits on input and on output tokens the one of which less is left. */
export function tightestTokens({ inputTokens, outputTokens }: LimitSnapshot): LimitState | null {
  if (inputTokens === null || outputTokens === null) return inputTokens ?? outputTokens
  return outputTokens.remaining < inputTokens.remaining ? outputTokens : inputTokens
}
