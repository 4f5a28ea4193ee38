import { takeAtOnce } from '../allowances/take-together.ts'
import type { Fund } from '../allowances/fund-allowance.ts'
import type { Amounts, BudgetAccount, BudgetClaim } from './budget-account.ts'

/** What a request may come to. */
export type Wish = {
  readonly inputTokens: number
  /** Of all answers it asks for. */
  readonly outputTokensMax: number
  /** What it costs with so many output tokens, at the price of its admission; never less for more of them. */
  worstCaseMicros(outputTokens: number): number
}

/** Shorter answers than this help nobody who did not ask for so little. */
export const usefulOutputTokens = 1_024

export function amountsOf(wish: Wish, outputTokens: number): Amounts {
  return { micros: wish.worstCaseMicros(outputTokens), tokens: wish.inputTokens + outputTokens }
}

/** The most output tokens, up to those wished for, that all funds have room for; null where not even the prompt fits. */
export function affordableOutput(
  wish: Wish,
  claims: readonly BudgetClaim[],
  room: (fund: Fund, claim: BudgetClaim) => number,
): number | null {
  const rooms = claims.map((claim) => ({ measure: claim.measure, most: room(claim.allowance, claim) }))
  const fits = (outputTokens: number) => {
    const amounts = amountsOf(wish, outputTokens)
    return rooms.every(({ measure, most }) => amounts[measure] <= most)
  }
  if (fits(wish.outputTokensMax)) return wish.outputTokensMax
  if (!fits(0)) return null
  let [fitting, tooMany] = [0, wish.outputTokensMax]
  while (tooMany - fitting > 1) {
    const middle = Math.floor((fitting + tooMany) / 2)
    if (fits(middle)) fitting = middle
    else tooMany = middle
  }
  return fitting
}

/** What a request has taken of each budget. */
export type Taken = ReadonlyMap<BudgetAccount, Partial<Amounts>>

/** Divides what was taken into so much and what is more than that. */
export function divideTaken(taken: Taken, amounts: Amounts): { readonly taken: Taken; readonly tooMuch: Taken } {
  const needed = new Map<BudgetAccount, Partial<Amounts>>()
  const tooMuch = new Map<BudgetAccount, Partial<Amounts>>()
  for (const [account, { micros, tokens }] of taken) {
    needed.set(account, {
      ...(micros !== undefined && { micros: amounts.micros }),
      ...(tokens !== undefined && { tokens: amounts.tokens }),
    })
    tooMuch.set(account, {
      ...(micros !== undefined && { micros: micros - amounts.micros }),
      ...(tokens !== undefined && { tokens: tokens - amounts.tokens }),
    })
  }
  return { taken: needed, tooMuch }
}

/** Takes what so many output tokens may cost, of all funds or of none. */
export function takeFor(wish: Wish, claims: readonly BudgetClaim[], outputTokens: number): Taken | null {
  const amounts = amountsOf(wish, outputTokens)
  const withAmounts = claims.map((claim) => ({ ...claim, amount: amounts[claim.measure] }))
  if (takeAtOnce(withAmounts).length > 0) return null
  const taken = new Map<BudgetAccount, Partial<Amounts>>()
  for (const { account, measure, amount } of withAmounts) {
    taken.set(account, { ...taken.get(account), [measure]: amount })
  }
  return taken
}
