// Where requests wait for money that others have reserved and may not need.
//
//     what it may cost at most is free            → it is reserved, and the request goes on
//     it is reserved by others                    → the request waits until they have settled
//     it is more than is left at all              → the answer may only be as long as is left, or a share of it
//     not even a useful answer can be paid for    → refused
//
// So spending never exceeds a budget, and nothing is refused that its money is there for.

import type { Clock } from '../../lib/clock.ts'
import { affordableOutput, amountsOf, takeFor, usefulOutputTokens, type Taken, type Wish } from './afford.ts'
import type { BudgetAccount, BudgetClaim } from './budget-account.ts'
import { budgetExceeded, budgetReserved } from './refusals.ts'

export type Reserved = {
  readonly taken: Taken
  /** Below what was wished for where the budget affords no more. */
  readonly outputTokensMax: number
}

type Waiter = {
  readonly accounts: readonly BudgetAccount[]
  readonly wish: Wish
  readonly decision: PromiseWithResolvers<Reserved>
  isLate: boolean
  cancelDeadline(): void
}

/** As long as clients are told to wait at most: after it, coming back is as good. */
const waitMsMax = 60_000
/** Other gateways settle without telling. */
const lookEveryMs = 250

export class BudgetLine {
  readonly #clock: Clock
  readonly #waiters: Waiter[] = []
  #isServing = false
  #mustServeAgain = false
  #cancelLook = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves when the request's worst case is reserved. Rejects when its budgets cannot pay for it. */
  async reserve(accounts: readonly BudgetAccount[], wish: Wish, signal: AbortSignal): Promise<Reserved> {
    const isBehind = this.#waiters.some((other) => other.accounts.some((account) => accounts.includes(account)))
    if (!isBehind) {
      const reserved = await this.#tryOnce({ accounts, wish, isLate: false })
      if (reserved !== null) return reserved
    }
    return this.#wait(accounts, wish, signal)
  }

  /** The same where nobody waits and all of it is free; null where it is not, and nothing is taken. */
  takeAtOnce(accounts: readonly BudgetAccount[], wish: Wish): Taken | null {
    if (this.#waiters.length > 0) return null
    const claims = accounts.flatMap((account) => account.claims())
    return takeFor(wish, claims, wish.outputTokensMax)
  }

  /** Something was settled or changed: those who wait may go on now. */
  wake(): void {
    if (this.#waiters.length === 0) return
    this.#mustServeAgain = true
    if (!this.#isServing) void this.#serve()
  }

  #wait(accounts: readonly BudgetAccount[], wish: Wish, signal: AbortSignal): Promise<Reserved> {
    const decision = Promise.withResolvers<Reserved>()
    const waiter: Waiter = { accounts, wish, decision, isLate: false, cancelDeadline() {} }
    waiter.cancelDeadline = this.#clock.after(waitMsMax, () => {
      waiter.isLate = true
      this.wake()
    })
    const leave = () => this.#end(waiter, () => decision.reject(signal.reason))
    signal.addEventListener('abort', leave, { once: true })
    this.#waiters.push(waiter)
    if (signal.aborted) leave()
    else this.wake()
    return decision.promise.finally(() => signal.removeEventListener('abort', leave))
  }

  async #serve(): Promise<void> {
    this.#isServing = true
    this.#cancelLook()
    while (this.#mustServeAgain) {
      this.#mustServeAgain = false
      await this.#serveInOrder(this.#waiters.slice())
    }
    this.#isServing = false
    if (this.#waiters.length > 0) this.#cancelLook = this.#clock.after(lookEveryMs, () => this.wake())
  }

  /** Whoever cannot go on holds up those behind who want of the same budget, unless they have waited long enough. */
  async #serveInOrder(inLine: readonly Waiter[]): Promise<void> {
    const blocked = new Set<BudgetAccount>()
    for (const waiter of inLine.filter((each) => this.#waiters.includes(each))) {
      const isHeldUp = !waiter.isLate && waiter.accounts.some((account) => blocked.has(account))
      const isGone = !isHeldUp && (await this.#advance(waiter))
      for (const account of isGone ? [] : waiter.accounts) blocked.add(account)
    }
  }

  /** Whether the waiter is gone from the line. */
  async #advance(waiter: Waiter): Promise<boolean> {
    try {
      const reserved = await this.#tryOnce(waiter)
      if (reserved === null) return !this.#waiters.includes(waiter)
      // It may have left while the funds were looked at.
      if (this.#waiters.includes(waiter)) this.#end(waiter, () => waiter.decision.resolve(reserved))
      else giveBack(reserved.taken, this.#clock.nowMs())
    } catch (error) {
      this.#end(waiter, () => waiter.decision.reject(error))
    }
    return true
  }

  #end(waiter: Waiter, tell: () => void): void {
    const index = this.#waiters.indexOf(waiter)
    if (index < 0) return
    this.#waiters.splice(index, 1)
    waiter.cancelDeadline()
    tell()
    this.wake()
  }

  /** Null for one that has to wait. */
  async #tryOnce({ accounts, wish, isLate }: Pick<Waiter, 'accounts' | 'wish' | 'isLate'>): Promise<Reserved | null> {
    const full = wish.outputTokensMax
    const amounts = amountsOf(wish, full)
    const claims = accounts.flatMap((account) => account.claims())
    const short = claims.filter(({ allowance, measure }) => allowance.free() < amounts[measure])
    await Promise.all(short.map(({ allowance, measure }) => allowance.replenish(amounts[measure])))

    const useful = Math.min(full, usefulOutputTokens)
    const atBest = affordableOutput(wish, claims, (fund) => fund.left())
    if (atBest === null || atBest < useful) throw budgetExceeded(tightest(wish, claims, useful))
    const outputTokensMax = isLate || atBest < full ? this.#shareOf(wish, claims, isLate) : full
    const taken = outputTokensMax < useful ? null : takeFor(wish, claims, outputTokensMax)
    if (taken !== null) return { taken, outputTokensMax }
    if (isLate) throw budgetReserved()
    return null
  }

  /** What is free is divided among those who wait, as long as everyone's share pays for a useful answer. */
  #shareOf(wish: Wish, claims: readonly BudgetClaim[], isLate: boolean): number {
    const useful = amountsOf(wish, Math.min(wish.outputTokensMax, usefulOutputTokens))
    const sharers = isLate ? 1 : Math.max(1, this.#waiters.length)
    const share = affordableOutput(wish, claims, (fund, { measure }) =>
      Math.min(fund.free(), Math.max(fund.free() / sharers, useful[measure])),
    )
    return share ?? -1
  }
}

export function giveBack(taken: Taken, atMs: number): void {
  for (const [account, amounts] of taken) account.settle(amounts, { micros: 0, tokens: 0 }, atMs)
}

/** The budget to name in a refusal: the first that cannot pay. */
function tightest(wish: Wish, claims: readonly BudgetClaim[], outputTokens: number): BudgetAccount | undefined {
  const amounts = amountsOf(wish, outputTokens)
  return claims.find(({ allowance, measure }) => allowance.left() < amounts[measure])?.account
}
