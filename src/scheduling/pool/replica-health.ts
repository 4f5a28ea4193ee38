// Whether a replica may be given requests.
//
//     proving ──→ up ──────→ ejected ──→ (a pause, two good checks) ──→ up, slowly
//        └─────────┴──→ refused, until what was wrong with it is another
//
// It is ejected at once where it takes no connection or has computed something else than it was asked for, and
// otherwise after three failures in a row. One that denies three requests in a row is proved anew: what is wrong with it the
// proof finds, and what was wrong with the requests does not. One that could not be reached comes back with its first good
// check, and at full pace, where there is no other: nobody is better off while it is left out.

import type { Clock } from '../../lib/clock.ts'

/**
 * How a replica failed. `refused` takes no connections, `unconnected` took none in time, and `lied` counts what it was not
 * given.
 */
export type FailureKind = 'refused' | 'unconnected' | 'timeout' | 'status' | 'malformed' | 'lied' | 'unwell'

export type HealthState = 'proving' | 'up' | 'ejected' | 'refused'

export type HealthOptions = {
  readonly clock: Clock
  /** From 0 up to 1. */
  random(): number
}

const failuresInRowMax = 3
const pauseMsUnit = 5_000
const pauseMsMax = 300_000
/** Replicas that failed together do not come back together. */
const pauseSpread = 0.25
const checksToReturn = 2
/** A replica that is new or was away has cold caches and cold code. */
const slowStartMs = 30_000
const slowStartShare = 0.1
/** After so long without a failure the next ejection is a first one again. */
const forgivenAfterMs = 300_000

export class ReplicaHealth {
  readonly #options: HealthOptions
  #state: HealthState = 'proving'
  #reason: string | null = null
  #failures = 0
  #ejections = 0
  #kind: FailureKind | null = null
  #returnsAtMs = 0
  #goodChecks = 0
  #upSinceMs: number | null = null
  #isFirstStart = true

  constructor(options: HealthOptions) {
    this.#options = options
  }

  get state(): HealthState {
    return this.#state
  }

  /** Why it is given nothing, for the operator. */
  get reason(): string | null {
    return this.#reason
  }

  /** It takes no connections: there is no use in trying it although others are away too. */
  get isUnreachable(): boolean {
    return this.#state !== 'up' && this.#kind !== 'timeout' && this.#kind !== 'status' && this.#kind !== 'malformed'
  }

  /** How much of its room it may be given, from 0 to 1. */
  get share(): number {
    if (this.#upSinceMs === null) return 1
    const elapsedMs = this.#options.clock.monotonicMs() - this.#upSinceMs
    return Math.min(1, slowStartShare + (1 - slowStartShare) * (elapsedMs / slowStartMs))
  }

  /** It was proved to be what it is said to be. The first ones of a pool, and one alone, start at full pace: there is nobody else. */
  proved(isAlone = false): void {
    this.#failures = 0
    if (this.#state === 'up') return
    this.#state = 'up'
    this.#reason = null
    this.#kind = null
    this.#goodChecks = 0
    this.#upSinceMs = this.#isFirstStart || isAlone ? null : this.#options.clock.monotonicMs()
    this.#isFirstStart = false
  }

  /** It is not what it is said to be, and no waiting will change that. */
  refuse(reason: string): void {
    this.#state = 'refused'
    this.#reason = reason
  }

  /** It cannot be proved as yet. */
  unproved(reason: string): void {
    if (this.#state === 'up') return
    this.#reason = reason
    if (this.#state !== 'ejected') this.#kind = 'refused'
  }

  succeeded(): void {
    this.#failures = 0
  }

  /** It lets a request in no more, or has nothing at its path. Returns whether it is to be proved anew. */
  denied(): boolean {
    if (this.#state !== 'up') return false
    this.#failures += 1
    return this.#failures >= failuresInRowMax
  }

  /** Returns whether it is ejected by that. */
  failed(kind: FailureKind, reason: string): boolean {
    if (this.#state !== 'up') return false
    this.#failures += 1
    if (kind !== 'refused' && kind !== 'lied' && this.#failures < failuresInRowMax) return false
    this.#eject(kind, reason)
    return true
  }

  /**
   * Notes a check of it while it is ejected; `isAlone` where no other can be given anything. Returns whether it is to be proved
   * again, and then given requests.
   */
  checked(isGood: boolean, isAlone = false): boolean {
    if (this.#state !== 'ejected') return false
    this.#goodChecks = isGood ? this.#goodChecks + 1 : 0
    // One that lies answers well to checks all the while.
    if (isGood && isAlone && this.isUnreachable && this.#kind !== 'lied') return true
    return this.#goodChecks >= checksToReturn && this.#options.clock.monotonicMs() >= this.#returnsAtMs
  }

  #eject(kind: FailureKind, reason: string): void {
    const { clock, random } = this.#options
    const nowMs = clock.monotonicMs()
    const wasLongAgo = nowMs - this.#returnsAtMs > forgivenAfterMs
    this.#ejections = wasLongAgo ? 1 : this.#ejections + 1
    const pauseMs = Math.min(pauseMsMax, pauseMsUnit * this.#ejections)
    this.#returnsAtMs = nowMs + pauseMs * (1 + pauseSpread * random())
    this.#state = 'ejected'
    this.#kind = kind
    this.#reason = reason
    this.#goodChecks = 0
  }
}
