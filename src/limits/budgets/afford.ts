import type { FixedAllowance } from '../allowances/fixed-allowance.ts'
import type { BudgetClaim } from './budget-account.ts'
import type { Amounts } from './amounts.ts'

/** What a request may come to. */
export type SpendingRequest = {
  readonly inputTokens: number
  /** The bound of all answers that the request asks for, together. */
  readonly outputTokensMax: number
  /** What it costs with so many output tokens, at the price of its admission; never less for more of them. */
  worstCaseMicros(outputTokens: number): number
}

/** Shorter answers than this help nobody who did not ask for so little. */
export const usefulOutputTokens = 1_024

export function amountsOf(request: SpendingRequest, outputTokens: number): Amounts {
  return { micros: request.worstCaseMicros(outputTokens), tokens: request.inputTokens + outputTokens }
}

/** The most output tokens, up to those asked for, that all allowances have room for; null where not even the prompt fits. */
export function affordableOutput(
  request: SpendingRequest,
  claims: readonly BudgetClaim[],
  room: (allowance: FixedAllowance, claim: BudgetClaim) => number,
): number | null {
  const rooms = claims.map((claim) => ({ measure: claim.measure, most: room(claim.allowance, claim) }))
  const fits = (outputTokens: number) => {
    const amounts = amountsOf(request, outputTokens)
    return rooms.every(({ measure, most }) => amounts[measure] <= most)
  }
  if (fits(request.outputTokensMax)) return request.outputTokensMax
  if (!fits(0)) return null
  let [fitting, tooMany] = [0, request.outputTokensMax]
  while (tooMany - fitting > 1) {
    const middle = Math.floor((fitting + tooMany) / 2)
    if (fits(middle)) fitting = middle
    else tooMany = middle
  }
  return fitting
}
