import { inputTokens, type Usage } from '../core/generation.ts'
import type { ApiKeyPrincipal } from '../core/principal.ts'
import type { Clock } from '../lib/clock.ts'
import { takeAtOnce, takeTogether, whenAvailable } from './allowances/take-together.ts'
import { amountsOf, divideTaken, type Taken } from './budgets/afford.ts'
import { giveBack, type BudgetLine, type Reserved } from './budgets/budget-line.ts'
import type { LimitBook } from './limit-book.ts'
import { rateLimited, type LimitClaim } from './refuse.ts'
import { countedTokens, tokenClaims, type OutputWish, type TokenClaim } from './token-claims.ts'
import { inTime } from '../lib/clock.ts'

/** Who wants to use what. */
export type Sought = { readonly principal: ApiKeyPrincipal; readonly model: string }

export type Used = {
  readonly usage: Usage
  readonly costMicros: number
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
  reserve(wish: OutputWish): Promise<number>
  /**
   * Reserves for a prompt that is no longer than the wish says, and whose length will be known in a moment.
   * Returns what `reserve` would; null where not all of it is free at once, and nothing is taken.
   */
  reserveUncounted(wish: OutputWish): number | null
  /** The prompt of the same wish has been counted and is no longer: what is too much goes back. */
  counted(wish: OutputWish): void
  /** The request is over, or never began. A second call changes nothing. */
  settle(used: Used): void
}

type AdmissionParts = {
  readonly clock: Clock
  readonly book: LimitBook
  readonly line: BudgetLine
  readonly uncounted: Uncounted
}

/** The admission of one request to the limits and budgets that apply to it. */
export class OpenAdmission implements Admission {
  readonly #parts: AdmissionParts
  readonly #sought: Sought
  readonly #requests: readonly LimitClaim[]
  /** Takes a request out of the line for money; one that never stood there has none. */
  #leaveLine: AbortController | null = null
  /** Set while what is reserved is for a prompt that is not counted yet. */
  #endUncounted: (() => void) | null = null
  #isSettled = false
  #reserving: Promise<number> | null = null
  #tokens: readonly TokenClaim[] = []
  #taken: Taken = new Map()

  constructor(parts: AdmissionParts, sought: Sought, requests: readonly LimitClaim[]) {
    this.#parts = parts
    this.#sought = sought
    this.#requests = requests
  }

  reserve(wish: OutputWish): Promise<number> {
    // It is longer than it was to be at most, or is prepared a second time.
    if (this.#endUncounted !== null) this.#giveBackUncounted()
    return (this.#reserving ??= this.#reserve(wish))
  }

  reserveUncounted(wish: OutputWish): number | null {
    if (this.#reserving !== null || this.#isSettled) return null
    const { book, line, uncounted } = this.#parts
    const { principal, model } = this.#sought
    const tokens = tokenClaims(book.limitsOf(principal, model), wish)
    const isAtHand = tokens.every(({ allowance, amount }) => allowance.returnsAtOnce && allowance.free() >= amount)
    const taken = isAtHand ? line.takeAtOnce(book.budgetsOf(principal), wish) : null
    if (taken === null) return null
    takeAtOnce(tokens)
    this.#tokens = tokens
    this.#taken = taken
    this.#endUncounted = uncounted.enter()
    this.#reserving = Promise.resolve(wish.outputTokensMax)
    return wish.outputTokensMax
  }

  counted(wish: OutputWish): void {
    if (this.#endUncounted === null) return
    this.#tokens = this.#tokens.map((claim) => {
      if (claim.kind !== 'input-tokens') return claim
      claim.allowance.settle(claim.amount - wish.inputTokens, 0)
      return { ...claim, amount: wish.inputTokens }
    })
    const { taken, tooMuch } = divideTaken(this.#taken, amountsOf(wish, wish.outputTokensMax))
    giveBack(tooMuch, this.#parts.clock.nowMs())
    this.#taken = taken
    this.#leaveUncounted()
    this.#parts.line.wake()
  }

  settle({ usage, costMicros, atMs }: Used): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#leaveLine?.abort()
    const { book, line } = this.#parts
    for (const { kind, allowance, amount } of this.#requests) if (kind === 'concurrency') allowance.settle(amount, 0)
    for (const claim of this.#tokens) claim.allowance.settle(claim.amount, countedTokens(claim, usage))
    const used = { micros: costMicros, tokens: inputTokens(usage) + usage.output }
    // A budget that was set meanwhile pays too, though nothing was reserved of it.
    for (const account of new Set([...this.#taken.keys(), ...book.budgetsOf(this.#sought.principal)])) {
      account.settle(this.#taken.get(account) ?? {}, used, atMs)
    }
    this.#leaveUncounted()
    line.wake()
  }

  async #reserve(wish: OutputWish): Promise<number> {
    const { book, line, clock, uncounted } = this.#parts
    const { principal, model } = this.#sought
    const tokens = tokenClaims(book.limitsOf(principal, model), wish)
    const take = () => whenAvailable(() => takeTogether(tokens))
    let short = await take()
    if (short.length > 0 && (await uncounted.settled())) short = await take()
    if (short.length > 0) {
      this.#uncount()
      throw rateLimited(short, model)
    }
    try {
      const { taken, outputTokensMax } = await this.#reserveMoney(wish)
      if (this.#isSettled) {
        giveBack(taken, clock.nowMs())
        line.wake()
        throw new Error('The request was over before its money was reserved.')
      }
      this.#taken = taken
      this.#tokens = tokens
      return outputTokensMax
    } catch (error) {
      for (const { allowance, amount } of tokens) allowance.settle(amount, 0)
      throw error
    }
  }

  async #reserveMoney(wish: OutputWish): Promise<Reserved> {
    const { book, line } = this.#parts
    const accounts = book.budgetsOf(this.#sought.principal)
    if (accounts.length === 0) return { taken: new Map(), outputTokensMax: wish.outputTokensMax }
    const leave = (this.#leaveLine = new AbortController())
    const reserved = await whenAvailable(() => line.reserve(accounts, wish, leave.signal))
    // It is out of the line: to abort what nobody listens to any more would still make an error and its stack.
    this.#leaveLine = null
    return reserved
  }

  #giveBackUncounted(): void {
    for (const { allowance, amount } of this.#tokens) allowance.settle(amount, 0)
    giveBack(this.#taken, this.#parts.clock.nowMs())
    this.#tokens = []
    this.#taken = new Map()
    this.#reserving = null
    this.#leaveUncounted()
    this.#parts.line.wake()
  }

  #leaveUncounted(): void {
    this.#endUncounted?.()
    this.#endUncounted = null
  }

  /** A request that was refused for its tokens is none that was made. */
  #uncount(): void {
    for (const { kind, allowance, amount } of this.#requests) if (kind === 'requests') allowance.settle(amount, 0)
  }
}

/** Counting a short prompt takes milliseconds; an engine that has stopped keeps nobody waiting longer than this. */
const patienceMs = 1_000

/**
 * Requests that have reserved for the longest their prompts can be, and know in a moment how long they are.
 *
 * Until then they hold more than they need, and nobody may be refused for that.
 */
export class Uncounted {
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

  /** Waits until all that are uncounted now have been counted. False where there are none. */
  async settled(): Promise<boolean> {
    if (this.#moments.size === 0) return false
    await inTime(this.#clock, patienceMs, Promise.all(this.#moments)).catch(() => {})
    return true
  }
}
