import type { RequestId } from '../../core/ids.ts'
import type { ApiKeyPrincipal } from '../../core/principal.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Amounts, Spending } from './amounts.ts'

/** A request under way that has reserved the most it can come to. */
export type Holding = {
  readonly requestId: RequestId
  readonly principal: ApiKeyPrincipal
  /** Reserved of every budget that applies to it, whenever that was set. */
  readonly amounts: Amounts
}

/** What a request came to. */
export type Settled = Omit<Holding, 'amounts'> & { readonly used: Spending; readonly atMs: number }

/** Every gateway hears of a budget within a second; the rest is for a machine that does much else. */
const rememberMs = 10_000

/**
 * The requests that a budget finds when it is set: those under way, and those that have just ended.
 *
 * Another gateway may have opened the shared counter of the budget already, before these were in the ledger.
 */
export class OpenRequests {
  readonly #clock: Clock
  readonly #holdings = new Set<Holding>()
  /** The oldest first. */
  readonly #settled: (Settled & { readonly settledMs: number })[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  hold(holding: Holding): void {
    this.#holdings.add(holding)
  }

  release(holding: Holding): void {
    this.#holdings.delete(holding)
  }

  /** The request is over and was counted by the budgets in force. */
  settle(settled: Settled): void {
    this.#forget()
    this.#settled.push({ ...settled, settledMs: this.#clock.monotonicMs() })
  }

  underWay(): Iterable<Holding> {
    return this.#holdings
  }

  justSettled(): readonly Settled[] {
    this.#forget()
    return this.#settled
  }

  #forget(): void {
    const before = this.#clock.monotonicMs() - rememberMs
    const kept = this.#settled.findIndex(({ settledMs }) => settledMs >= before)
    if (kept !== 0) this.#settled.splice(0, kept < 0 ? Infinity : kept)
  }
}
