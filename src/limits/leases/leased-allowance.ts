// A gateway's part of an allowance that several share. What it holds it gives out without
// asking anybody; it asks for more when that does not suffice, or is soon used up, and gives
// back what it has not used for a while.

import type { Clock } from '../../lib/clock.ts'
import { inTime } from '../../lib/clock.ts'
import type { Fund } from '../allowances/fund-allowance.ts'
import type { Contact } from './contact.ts'
import { exchangeLease, leaseMs, type Exchange, type Exchanged, type LeaseParts } from './exchange-lease.ts'

export type LeasedParts = LeaseParts & {
  readonly clock: Clock
  readonly gatewayId: string
  /** The gateway's, whatever it asks the database for. */
  readonly contact: Contact
  onError(error: unknown): void
}

export type LeasedFor = {
  readonly id: string
  readonly kind: 'bucket' | 'fund'
  readonly limit: number
  /** What is spent by the ledger; null for what is not in it. */
  readonly readSpent: (() => Promise<number>) | null
}

const renewEveryMs = 1_000
/** So much of a limit at most is taken before it is asked for. */
const aheadShare = 20
/** A request waits no longer than this for a database that does not answer: as long as for a connection to it. */
const patienceMs = 5_000
/** A lease is void for its holder before it is for the others. */
const safetyMs = 2_000

export class LeasedAllowance implements Fund {
  readonly #parts: LeasedParts
  readonly #for: LeasedFor
  #limit: number
  #inHand = 0
  /** Only of a fund: what is taken of a bucket need not be remembered. */
  #reserved = 0
  /** Settled and not told yet. */
  #unsent = { returned: 0, spent: 0 }
  #shared: Exchanged = { granted: 0, free: 0, spent: 0 }
  #sharedAtMs = 0
  #validUntilMs = -Infinity
  /** Taken since the last exchange, or asked for in vain: so much will soon be needed again. */
  #takenOfLate = 0
  readonly #needs = new Set<{ readonly amount: number }>()
  #exchanging: Promise<void> | null = null
  #exchangingSinceMs = 0
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

  get returnsAtOnce(): boolean {
    return this.#for.kind === 'fund'
  }

  get reserved(): number {
    return this.#reserved
  }

  get spent(): number {
    return this.#shared.spent + this.#unsent.spent
  }

  free(): number {
    return this.#parts.clock.monotonicMs() < this.#validUntilMs ? Math.max(0, this.#inHand) : 0
  }

  remaining(): number {
    const refilled = this.#for.kind === 'bucket' ? Math.floor((this.#sinceMs() * this.#limit) / 60_000) : 0
    const returned = Math.min(0, this.#unsent.returned)
    return Math.max(0, Math.min(this.#limit, this.#shared.free + refilled + this.free() + returned))
  }

  left(): number {
    return this.#for.kind === 'bucket' ? this.#limit : Math.max(0, this.#limit - this.spent)
  }

  take(amount: number): void {
    this.#inHand -= amount
    if (this.#for.kind === 'fund') this.#reserved += amount
    this.#takenOfLate += amount
    this.#renewLater()
  }

  settle(taken: number, used: number): void {
    if (this.#for.kind === 'bucket') {
      // What comes back goes through the database: only there it is known whether there is room for it.
      this.#unsent.returned += taken - used
    } else {
      this.#reserved -= taken
      this.#inHand += taken - used
      this.#unsent.spent += this.#for.readSpent === null ? 0 : used
    }
    this.#renewLater()
  }

  /** Resolves when the database was asked for it; all who come while it is being asked share the next time. */
  async replenish(amount: number): Promise<void> {
    const need = { amount }
    this.#needs.add(need)
    this.#next ??= this.#inTurn(this.#exchanging)
    const { clock } = this.#parts
    const waitedMs = this.#exchanging === null ? 0 : clock.monotonicMs() - this.#exchangingSinceMs
    try {
      await inTime(clock, patienceMs - waitedMs, this.#next)
    } catch (error) {
      this.#needs.delete(need)
      // Who asks again soon shall find something, however long the database takes.
      this.#takenOfLate += amount
      throw error
    }
  }

  waitMs(amount: number): number | null {
    if (amount > this.#limit) return Infinity
    if (this.#for.kind === 'fund') return null
    const missing = amount - this.remaining()
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
    this.#next = null
    const needs = [...this.#needs].map(({ amount }) => amount)
    this.#needs.clear()
    const inHand = Math.min(this.#inHand, this.free())
    // Those who gave up waiting need nothing any more.
    const needed = needs.length === 0 ? 0 : Math.max(0, Math.min(...needs) - inHand)
    const wanted = Math.max(needed, needs.reduce((sum, need) => sum + need, 0) + this.#ahead() - inHand)
    const exchanging = this.#exchange({ needed, wanted, kept: this.#kept() })
    this.#exchanging = exchanging
    try {
      await exchanging
    } finally {
      if (this.#exchanging === exchanging) this.#exchanging = null
    }
  }

  #ahead(): number {
    return Math.min(Math.ceil(this.#limit / aheadShare), this.#takenOfLate)
  }

  /** What is reserved of a fund is held until it is spent; of a bucket it is gone already. */
  #kept(): number {
    return Math.max(0, this.free() + (this.#for.kind === 'fund' ? this.#reserved : 0))
  }

  async #exchange({ needed, wanted, kept }: Pick<Exchange, 'needed' | 'wanted' | 'kept'>): Promise<void> {
    const { clock, gatewayId, contact } = this.#parts
    const { id, kind, readSpent } = this.#for
    const startedMs = clock.monotonicMs()
    this.#exchangingSinceMs = startedMs
    const holding = kind === 'fund' ? kept - this.#reserved : kept
    // What is neither kept nor reserved is given back; a lease that has run out has nothing to give.
    const surplus = startedMs < this.#validUntilMs ? this.#inHand - holding : Math.min(0, this.#inHand)
    const { returned, spent } = this.#unsent
    this.#unsent = { returned: 0, spent: 0 }
    this.#inHand = holding
    this.#takenOfLate = 0
    const inTouchMs = () => contact.lastsMs(startedMs)
    const exchange = { counterId: id, gatewayId, kind, limit: this.#limit, kept, spent, needed, wanted, inTouchMs }
    try {
      const exchanged = await exchangeLease(
        this.#parts,
        { ...exchange, returned: kind === 'bucket' ? returned + surplus : 0 },
        readSpent ?? (() => Promise.resolve(0)),
      )
      contact.answered(startedMs)
      this.#inHand += exchanged.granted
      this.#shared = exchanged
      this.#sharedAtMs = clock.monotonicMs()
      this.#validUntilMs = startedMs + leaseMs - safetyMs
    } catch (error) {
      contact.lost()
      // It may have been done or not: what was used is told again, what would be given back is given up.
      this.#unsent.returned += Math.min(0, returned)
      this.#unsent.spent += spent
      throw error
    } finally {
      this.#renewLater()
    }
  }

  #renewLater(): void {
    const isIdle = this.#inHand === 0 && this.#reserved === 0
    const isSettled = this.#unsent.returned === 0 && this.#unsent.spent === 0
    if (this.#cancelRenewal !== null || (isIdle && isSettled)) return
    this.#cancelRenewal = this.#parts.clock.after(renewEveryMs, () => {
      this.#cancelRenewal = null
      this.#renew().catch((error: unknown) => this.#parts.onError(error))
    })
  }

  /** What was not used of late is given back, what will be needed again is taken before. */
  async #renew(): Promise<void> {
    if (this.#exchanging !== null || this.#next !== null) return this.#renewLater()
    const ahead = this.#ahead()
    const keptInHand = Math.min(this.free(), ahead)
    const kept = keptInHand + (this.#for.kind === 'fund' ? this.#reserved : 0)
    const exchanging = this.#exchange({ needed: 0, wanted: ahead - keptInHand, kept })
    this.#exchanging = exchanging
    try {
      await exchanging
    } finally {
      if (this.#exchanging === exchanging) this.#exchanging = null
    }
  }

  #sinceMs(): number {
    return this.#parts.clock.monotonicMs() - this.#sharedAtMs
  }
}
