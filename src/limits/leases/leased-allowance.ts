// A gateway's part of an allowance that several share. What it holds it gives out without
// asking anybody; it asks for more when that does not suffice, or is soon used up, and gives
// back what it has not used for a while. Places of requests under way are never held ahead: a client that asks one
// gateway after the other would be refused for them.

import { setImmediate } from 'node:timers/promises'
import type { RequestId } from '../../core/ids.ts'
import { type Clock, deadline } from '../../lib/clock.ts'
import type { FixedAllowance } from '../allowances/fixed-allowance.ts'
import type { Contact } from './contact.ts'
import type { AllowancePeriod, LedgerSum } from '../budgets/budget-account.ts'
import { exchangeLease, leaseMs, type Exchange, type Exchanged, type LeaseParts } from './exchange-lease.ts'
import { PlaceLag } from './place-lag.ts'
import { UntoldUse } from './untold-use.ts'

export type LeasedParts = LeaseParts & {
  readonly clock: Clock
  readonly gatewayId: string
  /** The gateway's, whatever it asks the database for. */
  readonly contact: Contact
  onError(error: unknown): void
}

export type LeasedFor = {
  readonly id: string
  readonly kind: 'bucket' | 'fixed'
  readonly limit: number
  /** Null for what is of use at any time. */
  readonly period: AllowancePeriod | null
  /** Reads what is spent by the ledger; null for an amount that is not in it. */
  readonly readSpent: (() => Promise<LedgerSum<number>>) | null
}

type Asked = Pick<Exchange, 'needed' | 'wanted' | 'kept'>

const renewEveryMs = 1_000
/** A gateway takes at most a twentieth of a limit before anybody asks for it. */
const aheadShare = 20
/** By then each gateway has noticed that a period is over, or is none that anybody waits for. */
const handOverMs = 60_000
/** A request waits no longer than this for a database that does not answer: as long as for a connection to it. */
const patienceMs = 5_000
/** A lease is void for its holder before it is for the others. */
const safetyMs = 2_000

export class LeasedAllowance implements FixedAllowance {
  readonly #parts: LeasedParts
  readonly #for: LeasedFor
  #limit: number
  #inHand = 0
  /** Only of a fixed allowance: what is taken of a bucket need not be remembered. */
  #reserved = 0
  /** Settled and not told yet. */
  readonly #untold = new UntoldUse()
  #shared: Exchanged = { granted: 0, free: 0, spent: 0 }
  #sharedAtMs = 0
  #validUntilMs = -Infinity
  /** Taken since the last exchange, or asked for in vain: so much will soon be needed again. */
  #takenOfLate = 0
  #isKnown = false
  readonly #needs = new Set<{ readonly amount: number }>()
  #exchanging: Promise<void> | null = null
  #exchangingSinceMs = 0
  readonly #lag = new PlaceLag()
  #next: Promise<void> | null = null
  #cancelRenewal: (() => void) | null = null

  constructor(leased: LeasedFor, parts: LeasedParts) {
    this.#for = leased
    this.#parts = parts
    this.#limit = leased.limit
    this.#sharedAtMs = parts.clock.monotonicMs()
    // Until the first exchange tells better.
    this.#shared = { granted: 0, free: leased.limit, spent: 0 }
  }

  get limit(): number {
    return this.#limit
  }

  /** Whether it is one of places, which come back with each request, and whose spending nobody counts. */
  get #isOfPlaces(): boolean {
    return this.#for.kind === 'fixed' && this.#for.readSpent === null
  }

  get lagMs(): number {
    if (!this.#isOfPlaces) return 0
    return Math.min(patienceMs, this.#lag.ms)
  }

  get returnsAtOnce(): boolean {
    return this.#for.kind === 'fixed'
  }

  get reserved(): number {
    return this.#reserved
  }

  get spent(): number {
    return this.#shared.spent + this.#untold.spent
  }

  free(): number {
    return this.#parts.clock.monotonicMs() < this.#validUntilMs ? Math.max(0, this.#inHand) : 0
  }

  remaining(): number {
    return Math.max(0, this.#level())
  }

  /** Below zero when more was used than had been reserved. */
  #level(): number {
    const refilled = this.#for.kind === 'bucket' ? Math.floor((this.#sinceMs() * this.#limit) / 60_000) : 0
    const returned = Math.min(0, this.#untold.returned)
    return Math.min(this.#limit, this.#shared.free + refilled + this.free() + Math.min(0, this.#inHand) + returned)
  }

  left(): number {
    return this.#for.kind === 'bucket' ? this.#limit : Math.max(0, this.#limit - this.spent)
  }

  take(amount: number): void {
    this.#inHand -= amount
    if (this.#for.kind === 'fixed') this.#reserved += amount
    this.#takenOfLate += amount
    this.#renewLater()
  }

  join(requestId: RequestId, amount: number): void {
    if (!this.#isKnown) this.#untold.join(requestId)
    this.take(amount)
  }

  settle(taken: number, used: number, requestId?: RequestId): void {
    if (this.#for.kind === 'bucket') {
      // What comes back goes through the database: only there it is known whether there is room for it.
      this.#untold.giveBack(taken - used)
    } else {
      this.#reserved -= taken
      this.#inHand += taken - used
      if (!this.#isOfPlaces) this.#untold.spend(used, requestId)
    }
    this.giveBackUntaken()
    this.#renewLater()
  }

  /** The exchange that tells the others. */
  returned(): Promise<void> | null {
    return this.#isOfPlaces ? this.#next : null
  }

  giveBackUntaken(): void {
    if (!this.#isOfPlaces || this.free() === 0 || this.#needs.size > 0 || this.#next !== null) return
    this.#next = this.#inTurn(this.#exchanging)
    this.#next.catch((error: unknown) => this.#parts.onError(error))
  }

  /** Resolves when the database was asked for it; all who come while it is being asked share the next time. */
  async replenish(amount: number): Promise<void> {
    const need = { amount }
    this.#needs.add(need)
    this.#next ??= this.#inTurn(this.#exchanging)
    const { clock } = this.#parts
    const waitedMs = this.#exchanging === null ? 0 : clock.monotonicMs() - this.#exchangingSinceMs
    try {
      await deadline(clock, patienceMs - waitedMs, this.#next)
    } catch (error) {
      this.#needs.delete(need)
      // Who asks again soon shall find something, however long the database takes.
      this.#takenOfLate += amount
      throw error
    }
  }

  waitMs(amount: number): number | null {
    if (amount > this.#limit) return Infinity
    if (this.#for.kind === 'fixed') return null
    const missing = amount - this.#level()
    return missing <= 0 ? 1 : Math.ceil((missing * 60_000) / this.#limit)
  }

  resize(limit: number): void {
    this.#limit = limit
  }

  /** Gives back everything; what is still reserved is no longer this one's to account for. */
  async close(): Promise<void> {
    this.#cancelRenewal?.()
    this.#cancelRenewal = () => {}
    await this.#exchanging?.catch(() => {})
    this.#reserved = 0
    await this.#exchange({ needed: 0, wanted: 0, kept: 0 })
  }

  async #inTurn(before: Promise<void> | null): Promise<void> {
    // A failure before is told to those who waited for that one.
    await before?.catch(() => {})
    // What it has got is theirs, and they take it before it is looked at what is to be given back.
    if (before !== null) await setImmediate()
    this.#next = null
    const needs = [...this.#needs].map(({ amount }) => amount)
    this.#needs.clear()
    const sum = needs.reduce((all, need) => all + need, 0)
    const keptInHand = Math.min(this.free(), this.#isOfPlaces ? sum : Infinity)
    const inHand = Math.min(this.#inHand, keptInHand)
    // Those who gave up waiting need nothing any more.
    const needed = needs.length === 0 ? 0 : Math.max(0, Math.min(...needs) - inHand)
    const wanted = Math.max(needed, sum + this.#ahead() - inHand)
    await this.#exchangeInTurn({ needed, wanted, kept: this.#kept(keptInHand) })
  }

  #ahead(): number {
    if (this.#isOfPlaces) return 0
    return Math.min(Math.ceil(this.#limit / aheadShare), this.#takenOfLate)
  }

  /** A reserved part of a fixed allowance is held until it is spent; of a bucket it is gone already. */
  #kept(inHand: number): number {
    return inHand + (this.#for.kind === 'fixed' ? this.#reserved : 0)
  }

  /** While it is under way, those who come ask for the next one. */
  async #exchangeInTurn(asked: Asked): Promise<void> {
    const exchanging = this.#exchange(asked)
    this.#exchanging = exchanging
    try {
      await exchanging
    } finally {
      if (this.#exchanging === exchanging) this.#exchanging = null
    }
  }

  async #exchange({ needed, wanted, kept }: Asked): Promise<void> {
    const { clock, gatewayId, contact } = this.#parts
    const { id, kind, period, readSpent } = this.#for
    const startedMs = clock.monotonicMs()
    this.#exchangingSinceMs = startedMs
    const holding = kind === 'fixed' ? kept - this.#reserved : kept
    // The rest, neither kept nor reserved, is given back; a lease that has run out has nothing to give.
    const surplus = startedMs < this.#validUntilMs ? this.#inHand - holding : Math.min(0, this.#inHand)
    const told = this.#untold.take()
    this.#inHand = holding
    this.#takenOfLate = 0
    const exchange = {
      ...told,
      counterId: id,
      gatewayId,
      kind,
      limit: this.#limit,
      period,
      isBegun: period === null || clock.nowMs() >= period.fromMs + handOverMs,
      returned: kind === 'bucket' ? told.returned + surplus : 0,
      kept,
      needed,
      wanted,
      inTouchMs: () => contact.lastsMs(startedMs),
    }
    try {
      const readTruth = readSpent ?? (() => Promise.resolve({ sum: 0, upTo: 0 }))
      const exchanged = await exchangeLease(this.#parts, exchange, readTruth)
      this.#isKnown = true
      contact.answered(startedMs)
      this.#inHand += exchanged.granted
      this.#shared = exchanged
      this.#sharedAtMs = clock.monotonicMs()
      this.#lag.note(this.#sharedAtMs - startedMs, this.#sharedAtMs)
      this.#validUntilMs = startedMs + leaseMs - safetyMs
    } catch (error) {
      contact.lost()
      this.#untold.takeBack(told)
      throw error
    } finally {
      this.#renewLater()
    }
  }

  #renewLater(): void {
    const isIdle = this.#inHand === 0 && this.#reserved === 0
    if (this.#cancelRenewal !== null || (isIdle && this.#untold.isEmpty)) return
    this.#cancelRenewal = this.#parts.clock.after(renewEveryMs, () => {
      this.#cancelRenewal = null
      this.#renew().catch((error: unknown) => this.#parts.onError(error))
    })
  }

  /** What was not used of late is given back, what will be needed again is taken before. */
  async #renew(): Promise<void> {
    const { period } = this.#for
    if (period !== null && this.#parts.clock.nowMs() >= period.beforeMs) period.whenOver()
    if (this.#exchanging !== null || this.#next !== null) return this.#renewLater()
    const ahead = this.#ahead()
    const keptInHand = Math.min(this.free(), ahead)
    await this.#exchangeInTurn({ needed: 0, wanted: ahead - keptInHand, kept: this.#kept(keptInHand) })
  }

  #sinceMs(): number {
    return this.#parts.clock.monotonicMs() - this.#sharedAtMs
  }
}
