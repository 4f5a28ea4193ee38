import { ApiError } from '../core/error.ts'
import { inputTokens, type Usage } from '../core/generation.ts'
import type { RequestId } from '../core/ids.ts'
import type { ApiKeyPrincipal } from '../core/principal.ts'
import { type Clock, deadline } from '../lib/clock.ts'
import { takeAtOnce, takeTogether, whenAvailable } from './allowances/take-together.ts'
import { amountsOf } from './budgets/afford.ts'
import type { BudgetQueue } from './budgets/budget-queue.ts'
import { BudgetReservation } from './budgets/budget-reservation.ts'
import type { LimitBook } from './limit-book.ts'
import { rateLimited, type LimitClaim } from './refuse.ts'
import { countedTokens, outputSlice, tokenClaims, type ReservationRequest, type TokenClaim } from './token-claims.ts'

/** Who wants to use what, and the request by which the ledger will know it. */
export type AdmissionSubject = {
  readonly principal: ApiKeyPrincipal
  readonly model: string
  readonly requestId: RequestId
}

export type Used = {
  readonly usage: Usage
  readonly costPicos: bigint
  /** The time of the ledger's row, which decides the period that pays for it. */
  readonly atMs: number
}

export interface Admission {
  /**
   * Reserves the worst case of a request whose prompt has been counted; asked again it gives the same answer.
   *
   * Returns how many output tokens it may have, all its answers together. Throws `rate-limited` and
   * `budget-exceeded`.
   */
  reserve(request: ReservationRequest): Promise<number>
  /**
   * Reserves for a prompt that is no longer than the request says, and whose length will be known in a moment.
   * Returns what `reserve` would; null where not all of it is free at once, and nothing is taken.
   */
  reserveOptimistically(request: ReservationRequest): number | null
  /** The prompt of the same request has been counted and is no longer: what is too much goes back. */
  counted(request: ReservationRequest): void
  /**
   * How many output tokens are taken of the limits so far, and how many more an answer takes at a time: infinite where
   * none limits them.
   */
  outputSlices(): { readonly first: number; readonly slice: number }
  /**
   * Takes more output tokens as an answer grows, into debt where it must be, but never more of that than one minute's
   * allowance. Returns zero, or where they were not taken after how many milliseconds they could be.
   */
  growOutput(tokens: number): number
  /** The request is over, or never began. A second call changes nothing. */
  settle(used: Used): void
  /** Once it is settled: resolves when its places are there for a request at any gateway; null where they are already. */
  returned(): Promise<void> | null
}

type AdmissionParts = {
  readonly clock: Clock
  readonly book: LimitBook
  readonly queue: BudgetQueue
  readonly optimistic: OptimisticReservations
}

/** The admission of one request to the limits and budgets that apply to it. */
export class OpenAdmission implements Admission {
  readonly #parts: AdmissionParts
  readonly #subject: AdmissionSubject
  readonly #requests: readonly LimitClaim[]
  /** Takes a request out of the queue for money; one that never stood there has none. */
  #leaveQueue: AbortController | null = null
  /** Set while what is reserved is for a prompt that is not counted yet. */
  #endOptimistic: (() => void) | null = null
  #isSettled = false
  #returned: Promise<void> | null = null
  #reserving: Promise<number> | null = null
  #tokens: readonly TokenClaim[] = []
  readonly #money: BudgetReservation

  constructor(parts: AdmissionParts, subject: AdmissionSubject, requests: readonly LimitClaim[]) {
    this.#parts = parts
    this.#subject = subject
    this.#requests = requests
    this.#money = new BudgetReservation(parts.book, subject)
  }

  reserve(request: ReservationRequest): Promise<number> {
    // It is longer than it was to be at most, or is prepared a second time.
    if (this.#endOptimistic !== null) this.#giveBackOptimistic()
    return (this.#reserving ??= this.#reserve(request))
  }

  reserveOptimistically(request: ReservationRequest): number | null {
    if (this.#reserving !== null || this.#isSettled) return null
    const { book, queue, optimistic } = this.#parts
    const { principal, model } = this.#subject
    const tokens = tokenClaims(book.limitsOf(principal, model), request)
    const isAtHand = tokens.every(({ allowance, amount }) => allowance.returnsAtOnce && allowance.free() >= amount)
    if (!isAtHand || !queue.reserveAtOnce(this.#money, request)) return null
    takeAtOnce(tokens)
    this.#tokens = tokens
    this.#endOptimistic = optimistic.enter()
    this.#reserving = Promise.resolve(request.outputTokensMax)
    return request.outputTokensMax
  }

  counted(request: ReservationRequest): void {
    if (this.#endOptimistic === null) return
    this.#tokens = this.#tokens.map((claim) => {
      if (claim.kind !== 'input-tokens') return claim
      claim.allowance.settle(claim.amount - request.inputTokens, 0)
      return { ...claim, amount: request.inputTokens }
    })
    this.#money.reduceTo(amountsOf(request, request.outputTokensMax))
    this.#leaveOptimistic()
    this.#parts.queue.wake()
  }

  outputSlices(): { readonly first: number; readonly slice: number } {
    const claims = this.#tokens.filter(({ kind }) => kind === 'output-tokens')
    const first = Math.min(...claims.map(({ amount }) => amount))
    return { first, slice: Math.min(...claims.map(({ allowance }) => outputSlice(allowance.limit))) }
  }

  growOutput(tokens: number): number {
    if (this.#isSettled) return 0
    const claims = this.#tokens.filter(({ kind }) => kind === 'output-tokens')
    const waits = claims.map(({ allowance }) => allowance.waitMs(Math.min(tokens, allowance.limit)) ?? 0)
    const tooLongMs = Math.max(0, ...waits) - debtMsMax
    if (tooLongMs > 0) return tooLongMs
    this.#tokens = this.#tokens.map((claim) => {
      if (claim.kind !== 'output-tokens') return claim
      claim.allowance.take(tokens)
      return { ...claim, amount: claim.amount + tokens }
    })
    return 0
  }

  settle({ usage, costPicos, atMs }: Used): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#leaveQueue?.abort()
    const { queue } = this.#parts
    const places = this.#requests.filter(({ kind }) => kind === 'concurrency')
    for (const { allowance, amount } of places) allowance.settle(amount, 0)
    for (const claim of this.#tokens) claim.allowance.settle(claim.amount, countedTokens(claim, usage))
    this.#money.settle({ costPicos, tokens: inputTokens(usage) + usage.output }, atMs)
    this.#leaveOptimistic()
    queue.wake()
    const returned = places.map(({ allowance }) => allowance.returned()).filter((back) => back !== null)
    if (returned.length > 0) this.#returned = Promise.allSettled(returned).then(() => {})
  }

  returned(): Promise<void> | null {
    return this.#returned
  }

  async #reserve(request: ReservationRequest): Promise<number> {
    const { book, optimistic } = this.#parts
    const { principal, model } = this.#subject
    const tokens = tokenClaims(book.limitsOf(principal, model), request)
    const take = () => whenAvailable(() => takeTogether(tokens))
    let short = await take()
    if (short.length > 0 && (await optimistic.settled())) short = await take()
    if (short.length > 0) {
      this.#uncount()
      throw rateLimited(short, model)
    }
    try {
      const outputTokensMax = await this.#reserveMoney(request)
      if (this.#isSettled) throw new Error('The request was over before its money was reserved.')
      this.#tokens = tokens
      return outputTokensMax
    } catch (error) {
      for (const { allowance, amount } of tokens) allowance.settle(amount, 0)
      if (error instanceof ApiError && error.code === 'budget-exceeded') this.#uncount()
      throw error
    }
  }

  async #reserveMoney(request: ReservationRequest): Promise<number> {
    const { queue } = this.#parts
    if (this.#money.accounts().length === 0 && this.#money.take(request, request.outputTokensMax)) {
      return request.outputTokensMax
    }
    const leave = (this.#leaveQueue = new AbortController())
    const outputTokensMax = await whenAvailable(() => queue.reserve(this.#money, request, leave.signal))
    // It is out of the queue: to abort what nobody listens to any more would still make an error and its stack.
    this.#leaveQueue = null
    return outputTokensMax
  }

  #giveBackOptimistic(): void {
    for (const { allowance, amount } of this.#tokens) allowance.settle(amount, 0)
    this.#money.giveBack()
    this.#tokens = []
    this.#reserving = null
    this.#leaveOptimistic()
    this.#parts.queue.wake()
  }

  #leaveOptimistic(): void {
    this.#endOptimistic?.()
    this.#endOptimistic = null
  }

  /** A request that was refused for its tokens or for money is none that was made. */
  #uncount(): void {
    for (const { kind, allowance, amount } of this.#requests) if (kind === 'requests') allowance.settle(amount, 0)
  }
}

/** A limit in debt by one minute's allowance is worked off in a minute. */
const debtMsMax = 60_000

/** Counting a short prompt takes milliseconds; an engine that has stopped keeps nobody waiting longer than this. */
const patienceMs = 1_000

/**
 * Requests that have reserved for the longest their prompts can be, and know in a moment how long they are.
 *
 * Until then they hold more than they need, and nobody may be refused for that.
 */
export class OptimisticReservations {
  readonly #clock: Clock
  readonly #moments = new Set<Promise<void>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns what to call when the prompt is counted, or the request over. */
  enter(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#moments.add(promise)
    return () => {
      this.#moments.delete(promise)
      resolve()
    }
  }

  /** Waits until the prompts of all optimistic reservations have been counted. False where there are none. */
  async settled(): Promise<boolean> {
    if (this.#moments.size === 0) return false
    await deadline(this.#clock, patienceMs, Promise.all(this.#moments)).catch(() => {})
    return true
  }
}
