import type { RequestId } from '../../core/ids.ts'
import type { ApiKeyPrincipal } from '../../core/principal.ts'
import { takeAtOnce } from '../allowances/take-together.ts'
import { amountsOf, type SpendingRequest } from './afford.ts'
import type { BudgetAccount, BudgetClaim } from './budget-account.ts'
import type { Amounts, Spending } from './amounts.ts'
import type { Holding, OpenRequests } from './open-requests.ts'

/** The budgets in force, and the requests that they have to know of. */
export type BudgetsInForce = {
  readonly requests: OpenRequests
  budgetsOf(principal: ApiKeyPrincipal): BudgetAccount[]
}

/**
 * What one request has reserved of all budgets that apply to it, also of those that are set while it is under way.
 *
 * Every account in force holds the same amounts for it, so these are kept here alone.
 */
export class BudgetReservation {
  readonly #budgets: BudgetsInForce
  readonly #owner: { readonly principal: ApiKeyPrincipal; readonly requestId: RequestId }
  #holding: Holding | null = null
  #isOver = false

  constructor(budgets: BudgetsInForce, owner: { readonly principal: ApiKeyPrincipal; readonly requestId: RequestId }) {
    this.#budgets = budgets
    this.#owner = owner
  }

  /** The request has ended, and whatever it waits for it needs no more. */
  get isOver(): boolean {
    return this.#isOver
  }

  accounts(): BudgetAccount[] {
    return this.#budgets.budgetsOf(this.#owner.principal)
  }

  claims(): BudgetClaim[] {
    return this.accounts().flatMap((account) => account.claims())
  }

  /** Takes what so many output tokens may cost, of all budgets or of none. Returns whether it was taken. */
  take(request: SpendingRequest, outputTokens: number): boolean {
    if (this.#isOver) return false
    const amounts = amountsOf(request, outputTokens)
    const claims = this.claims().map((claim) => ({ ...claim, amount: amounts[claim.measure] }))
    if (takeAtOnce(claims).length > 0) return false
    this.#hold(amounts)
    return true
  }

  /** Gives back what is reserved beyond these amounts. */
  reduceTo(amounts: Amounts): void {
    const held = this.#release()
    if (held === null) return
    const tooMuch = { micros: held.micros - amounts.micros, tokens: held.tokens - amounts.tokens }
    for (const account of this.accounts()) account.giveBack(tooMuch)
    this.#hold(amounts)
  }

  giveBack(): void {
    const held = this.#release()
    if (held !== null) for (const account of this.accounts()) account.giveBack(held)
  }

  /** Exchanges what is reserved for what was used, at the time of the ledger's row. */
  settle(used: Spending, atMs: number): void {
    this.#isOver = true
    const settled = { ...this.#owner, used, atMs }
    const held = this.#release() ?? { micros: 0, tokens: 0 }
    for (const account of this.accounts()) account.settle(held, settled)
    if (used.tokens > 0) this.#budgets.requests.settle(settled)
  }

  #hold(amounts: Amounts): void {
    this.#holding = { ...this.#owner, amounts }
    this.#budgets.requests.hold(this.#holding)
  }

  #release(): Amounts | null {
    const holding = this.#holding
    if (holding === null) return null
    // A period that begins now takes over what is still held.
    for (const account of this.accounts()) account.beginPeriod()
    this.#holding = null
    this.#budgets.requests.release(holding)
    return holding.amounts
  }
}
