// Where requests wait for money that others have reserved and may not need.
//
//     what it may cost at most is free            → it is reserved, and the request goes on
//     it is reserved by others                    → the request waits until they have settled
//     it is more than is left at all              → the answer may only be as long as is left, or a share of it
//     not even a useful answer can be paid for    → refused
//
// So spending never exceeds a budget, and nothing is refused that its money is there for.

import type { Clock } from '../../lib/clock.ts'
import { affordableOutput, amountsOf, usefulOutputTokens, type SpendingRequest } from './afford.ts'
import type { BudgetAccount, BudgetClaim } from './budget-account.ts'
import type { BudgetReservation } from './budget-reservation.ts'
import { ApiError } from '../../core/error.ts'
import type { BudgetPeriod, LimitSubject } from '../../core/limit.ts'

type Spender = {
  readonly reservation: BudgetReservation
  readonly request: SpendingRequest
  readonly isLate: boolean
}

type Waiter = Spender & {
  readonly decision: PromiseWithResolvers<number>
  isLate: boolean
  cancelDeadline(): void
}

/** Clients are told to wait this long at most: after it, coming back is as good as waiting. */
const waitMsMax = 60_000
/** Other gateways settle without telling. */
const lookEveryMs = 250

export class BudgetQueue {
  readonly #clock: Clock
  readonly #waiters: Waiter[] = []
  #isServing = false
  #mustServeAgain = false
  #cancelLook = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Resolves when the request's worst case is reserved, with the output tokens it may have: fewer than it asked for
   * where the budget affords no more. Rejects when its budgets cannot pay for it.
   */
  async reserve(reservation: BudgetReservation, request: SpendingRequest, signal: AbortSignal): Promise<number> {
    const accounts = reservation.accounts()
    const isBehind = this.#waiters.some((other) => other.reservation.accounts().some((one) => accounts.includes(one)))
    if (!isBehind) {
      const outputTokens = await this.#tryOnce({ reservation, request, isLate: false })
      if (outputTokens !== null) return outputTokens
    }
    return this.#wait(reservation, request, signal)
  }

  /** The same where nobody waits and all of it is free. Returns whether it is reserved. */
  reserveAtOnce(reservation: BudgetReservation, request: SpendingRequest): boolean {
    return this.#waiters.length === 0 && reservation.take(request, request.outputTokensMax)
  }

  /** Something was settled or changed: those who wait may go on now. */
  wake(): void {
    if (this.#waiters.length === 0) return
    this.#mustServeAgain = true
    if (!this.#isServing) void this.#serve()
  }

  #wait(reservation: BudgetReservation, request: SpendingRequest, signal: AbortSignal): Promise<number> {
    const decision = Promise.withResolvers<number>()
    const waiter: Waiter = { reservation, request, decision, isLate: false, cancelDeadline() {} }
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
      const accounts = waiter.reservation.accounts()
      const isHeldUp = !waiter.isLate && accounts.some((account) => blocked.has(account))
      const isGone = !isHeldUp && (await this.#advance(waiter))
      for (const account of isGone ? [] : accounts) blocked.add(account)
    }
  }

  /** Whether the waiter is gone from the queue. */
  async #advance(waiter: Waiter): Promise<boolean> {
    try {
      const outputTokens = await this.#tryOnce(waiter)
      if (outputTokens === null) return !this.#waiters.includes(waiter)
      this.#end(waiter, () => waiter.decision.resolve(outputTokens))
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
  async #tryOnce({ reservation, request, isLate }: Spender): Promise<number | null> {
    const full = request.outputTokensMax
    const amounts = amountsOf(request, full)
    const short = reservation.claims().filter(({ allowance, measure }) => allowance.free() < amounts[measure])
    await Promise.all(short.map(({ allowance, measure }) => allowance.replenish(amounts[measure])))

    if (reservation.isOver) throw new Error('The request was over before its money was reserved.')
    // A budget may have been set meanwhile.
    const claims = reservation.claims()
    const useful = Math.min(full, usefulOutputTokens)
    const atBest = affordableOutput(request, claims, (allowance) => allowance.left())
    if (atBest === null || atBest < useful) {
      const account = tightest(request, claims, useful)
      account?.refused(amountsOf(request, useful))
      throw budgetExceeded(account)
    }
    const outputTokensMax = isLate || atBest < full ? this.#shareOf(request, claims, isLate) : full
    if (outputTokensMax >= useful && reservation.take(request, outputTokensMax)) return outputTokensMax
    if (isLate) throw budgetReserved()
    return null
  }

  /** Divides free money among those who wait, as long as everyone's share pays for a useful answer. */
  #shareOf(request: SpendingRequest, claims: readonly BudgetClaim[], isLate: boolean): number {
    const useful = amountsOf(request, Math.min(request.outputTokensMax, usefulOutputTokens))
    const sharers = isLate ? 1 : Math.max(1, this.#waiters.length)
    const share = affordableOutput(request, claims, (allowance, { measure }) =>
      Math.min(allowance.free(), Math.max(allowance.free() / sharers, useful[measure])),
    )
    return share ?? -1
  }
}

/** The budget to name in a refusal: the first that cannot pay. */
function tightest(
  request: SpendingRequest,
  claims: readonly BudgetClaim[],
  outputTokens: number,
): BudgetAccount | undefined {
  const amounts = amountsOf(request, outputTokens)
  return claims.find(({ allowance, measure }) => allowance.left() < amounts[measure])?.account
}

const subjects: Readonly<Record<LimitSubject['kind'], string>> = {
  organization: 'organization',
  project: 'project',
  'api-key': 'API key',
}

const adjectives: Readonly<Record<BudgetPeriod, string>> = {
  day: 'daily',
  week: 'weekly',
  month: 'monthly',
  year: 'yearly',
  lifetime: 'lifetime',
}

function nextBegins(endMs: number): string {
  if (endMs === Infinity) return ''
  return ` The next one begins at ${new Date(endMs).toISOString().replace('.000Z', 'Z')}.`
}

function budgetExceeded(account: BudgetAccount | undefined): ApiError {
  const words =
    account === undefined
      ? 'The budget is used up.'
      : `The ${adjectives[account.budget.period]} budget of this ` +
        `${subjects[account.budget.subject.kind]} is used up, or too little is left of it for this request.` +
        nextBegins(account.endMs())
  return new ApiError({ code: 'budget-exceeded' }, words)
}

/** It may all be there again in a moment, so coming back is worth it. */
function budgetReserved(): ApiError {
  return new ApiError(
    { code: 'rate-limited', retryAfterMs: 1_000 },
    'What is left of the budget is reserved by requests under way. Please try again when they have ended.',
  )
}
