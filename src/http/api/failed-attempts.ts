import { change, installationChain } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import { networkOf } from '../../lib/network/address-list.ts'
import { pause, type Clock } from '../../lib/clock.ts'

/** The refusals that are answered at once, and how far apart the following ones are: 20 a minute, and 200 a minute in all. */
const perNetwork: Pace = { atOnce: 20, intervalMs: 3_000 }
const inAll: Pace = { atOnce: 200, intervalMs: 300 }
/** No refusal is held back longer, so that somebody who mistyped a key hears of it before the client gives up. */
const pauseMsMax = 10_000
/** About 100 bytes each. */
const networksMax = 10_000

/** What somebody has shown who was not let in: a wrong one of these. */
export type ShownWrong =
  | 'key'
  | 'key of a directory'
  | 'key of the portal'
  | 'sign-in'
  | 'single sign-on'
  | 'code of an agent'

/** Whom it concerns, as far as that is somebody here. */
type Whose = { readonly shown: ShownWrong; readonly userId?: string | null }

/** Attempts of one network on one account are told together for so long. */
const toldTogetherMs = 3_600_000

/** So many rows a minute at most, and a few for all further networks together. */
const rowsPerMinuteMax = 60

type Told = { readonly sinceMs: number; attempts: number }

type Pace = { readonly atOnce: number; readonly intervalMs: number }

/**
 * Holds back the refusals of wrong keys when there are many from one network, or many in all.
 *
 * The generic cell rate algorithm: of each network only the time is kept at
 * which it would be even with its pace. Right keys are never held back, since
 * whoever shares a proxy with a guesser would be locked out.
 */
export class FailedAttempts {
  readonly #clock: Clock
  /** Where attempts are noted; null notes none. */
  readonly #db: Database | null
  readonly #told = new Map<string, Told>()
  #minute = { number: 0, rows: 0 }
  /** By network, in the order of the last attempt. */
  readonly #evenMs = new Map<string, number>()
  #allEvenMs = 0

  constructor(clock: Clock, db: Database | null = null) {
    this.#clock = clock
    this.#db = db
  }

  /** Counts a wrong key, and resolves when its refusal may be answered. */
  async hold(address: string, whose: Whose = { shown: 'key' }): Promise<void> {
    const noted = this.#note(address, whose)
    const network = networkOf(address)
    const nowMs = this.#clock.monotonicMs()
    const evenMs = advance(perNetwork, this.#evenMs.get(network) ?? 0, nowMs)
    this.#remember(network, evenMs)
    this.#allEvenMs = advance(inAll, this.#allEvenMs, nowMs)
    const waitMs = Math.max(waitOf(perNetwork, evenMs, nowMs), waitOf(inAll, this.#allEvenMs, nowMs))
    const held = waitMs > 0 ? pause(this.#clock, waitMs) : null
    await Promise.all([noted, held])
  }

  /**
   * Leaves a row in the audit for the first attempt of a network on an account, the second, the fourth and so on, with
   * how many there were within the hour. Where many networks try, all further ones are told together: guessing is seen,
   * and cannot fill the audit.
   */
  async #note(address: string, { shown, userId = null }: Whose): Promise<void> {
    if (this.#db === null) return
    const nowMs = this.#clock.nowMs()
    const number = Math.floor(nowMs / 60_000)
    if (this.#minute.number !== number) this.#minute = { number, rows: 0 }
    const isFlood = this.#minute.rows >= rowsPerMinuteMax
    const told = this.#findTold(isFlood ? shown : `${shown} ${userId ?? ''} ${networkOf(address)}`, nowMs)
    told.attempts += 1
    if (!Number.isInteger(Math.log2(told.attempts))) return
    this.#minute.rows += 1
    const origin = isFlood ? {} : { origin: { address, requestId: null } }
    const parts = { db: this.#db, clock: this.#clock, ...origin }
    const target = isFlood ? 'several' : (userId ?? 'nobody')
    const action = { action: 'sessions:refuse', organizationId: installationChain, target }
    const fields = { shown, attempts: told.attempts, since: new Date(told.sinceMs).toISOString() }
    await change(parts, { kind: 'anonymous', organizationId: null, role: null }, action, (_, note) =>
      Promise.resolve(note(null, fields)),
    )
  }

  #findTold(name: string, nowMs: number): Told {
    const known = this.#told.get(name)
    if (known !== undefined && nowMs - known.sinceMs < toldTogetherMs) return known
    this.#told.delete(name)
    const oldest = this.#told.keys().next()
    if (this.#told.size >= networksMax && oldest.done !== true) this.#told.delete(oldest.value)
    const told = { sinceMs: nowMs, attempts: 0 }
    this.#told.set(name, told)
    return told
  }

  /** How many networks are remembered. */
  get size(): number {
    return this.#evenMs.size
  }

  #remember(network: string, evenMs: number): void {
    this.#evenMs.delete(network)
    const oldest = this.#evenMs.keys().next()
    if (this.#evenMs.size >= networksMax && oldest.done !== true) this.#evenMs.delete(oldest.value)
    this.#evenMs.set(network, evenMs)
  }
}

/** One attempt more; a flood of them is forgotten as soon as its longest pause is over. */
function advance({ atOnce, intervalMs }: Pace, evenMs: number, nowMs: number): number {
  return Math.min(Math.max(evenMs, nowMs) + intervalMs, nowMs + atOnce * intervalMs + pauseMsMax)
}

function waitOf({ atOnce, intervalMs }: Pace, evenMs: number, nowMs: number): number {
  return Math.max(0, evenMs - nowMs - atOnce * intervalMs)
}
