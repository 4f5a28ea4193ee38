import { type Usage } from '../core/generation.ts'
import type { SpendingRequest } from './budgets/afford.ts'
import type { LimitEntry } from './limit-entry.ts'
import type { LimitClaim } from './refuse.ts'

export type ReservationRequest = SpendingRequest & {
  /** Whether the client named a limit; else the model's own stands for it. */
  readonly isOutputChosen: boolean
}

/** Tokens to be taken of one limit. */
export type TokenClaim = LimitClaim & { readonly cachedReadPercent: number }

/** Where no limit is named, answers are seldom as long as the model allows; so long they count before they are made. */
const assumedOutputTokensMin = 1_024
const assumedOutputShare = 10

export function tokenClaims(entries: readonly LimitEntry[], request: ReservationRequest): TokenClaim[] {
  return entries.flatMap(({ limit: { cachedReadPercent }, allowances }) => {
    const [input, output] = [allowances.get('input-tokens'), allowances.get('output-tokens')]
    const claims: TokenClaim[] = []
    if (input !== undefined) {
      claims.push({ kind: 'input-tokens', allowance: input, amount: request.inputTokens, cachedReadPercent })
    }
    if (output !== undefined) {
      const amount = assumedOutput(request, output.limit)
      claims.push({ kind: 'output-tokens', allowance: output, amount, cachedReadPercent })
    }
    return claims
  })
}

/** What an answer takes at a time while it grows: about what the limit allows in a second, and no tiny portion. */
export function outputSlice(limit: number): number {
  return Math.min(limit, Math.max(64, Math.ceil(limit / 60)))
}

/** What a request has used of a claim in the end. */
export function countedTokens({ kind, cachedReadPercent }: TokenClaim, usage: Usage): number {
  if (kind === 'output-tokens') return usage.output
  const { inputUncached, inputCacheRead, inputCacheWrite } = usage
  return inputUncached + inputCacheWrite + Math.ceil((inputCacheRead * cachedReadPercent) / 100)
}

/** Never more than the limit: a client that names a large maximum, or none, would be refused for ever. */
function assumedOutput({ outputTokensMax, isOutputChosen }: ReservationRequest, limit: number): number {
  const assumed = Math.max(assumedOutputTokensMin, Math.ceil(limit / assumedOutputShare))
  return Math.min(limit, outputTokensMax, isOutputChosen ? outputTokensMax : assumed)
}
