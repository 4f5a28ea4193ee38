// What a request may use, from its arrival to its last token.
//
//     enter     its key is known and its body is not: it takes a place of those that are for all models
//     admit     its model is known: it counts as a request and takes the other places
//     reserve   its prompt has been counted: tokens and money are taken for the worst case;
//               or it is short and will be, and what was taken too much comes back at once
//     settle    it is over: what it did not use is there again
//
// Each step takes all it needs of all limits, or nothing.

import type { LimitSnapshot, LimitState } from '../core/limit.ts'
import type { ApiKeyPrincipal } from '../core/principal.ts'
import type { Clock } from '../lib/clock.ts'
import { takeAtOnce, takeWhenBack, whenAvailable } from './allowances/take-together.ts'
import { BudgetQueue } from './budgets/budget-queue.ts'
import type { Allowance } from './allowances/allowance.ts'
import type { LimitKind } from '../core/limit-fields.ts'
import type { LimitBook } from './limit-book.ts'
import type { LimitEntry } from './limit-entry.ts'
import { OpenAdmission, type Admission, type AdmissionSubject, OptimisticReservations } from './open-admission.ts'
import { rateLimited, type LimitClaim } from './refuse.ts'
import { createFixedAllowance, type FixedAllowance } from './allowances/fixed-allowance.ts'

export interface Limiter {
  /**
   * Throws `rate-limited` where a request more is too many, whatever its model. No promise where nobody has to be asked.
   */
  enter(principal: ApiKeyPrincipal): Entrance | Promise<Entrance>
  /** Throws `rate-limited` where a request more is too many. What it has entered by is not taken again. */
  admit(subject: AdmissionSubject, entrance?: Entrance): Promise<Admission>
  /** How the limits stand that apply; of those of several models, the tightest. It takes nothing of them. */
  snapshot(principal: ApiKeyPrincipal, models: readonly string[]): LimitSnapshot
}

/** The places of a request whose body is not read yet. Its admission takes them over; if there is none, it leaves them. */
export class Entrance {
  #places: readonly LimitClaim[]

  constructor(places: readonly LimitClaim[]) {
    this.#places = places
  }

  has(allowance: Allowance): boolean {
    return this.#places.some((place) => place.allowance === allowance)
  }

  /** Whoever gets them gives them back. */
  handOver(): readonly LimitClaim[] {
    const places = this.#places
    this.#places = []
    return places
  }

  /** Changes nothing once they are handed over. */
  leave(): void {
    for (const { allowance, amount } of this.handOver()) allowance.settle(amount, 0)
  }
}

export type LimiterParts = {
  readonly clock: Clock
  readonly book: LimitBook
  /** For keys without a limit of their own; null for none. */
  readonly requestsPerKeyMax: number | null
}

export function createLimiter({ clock, book, requestsPerKeyMax }: LimiterParts): Limiter {
  const parts = { clock, book, queue: new BudgetQueue(clock), optimistic: new OptimisticReservations(clock) }
  const keyPlaces = new KeyPlaces(requestsPerKeyMax)
  const claimsOf = (principal: ApiKeyPrincipal, entries: readonly LimitEntry[]): LimitClaim[] => {
    const claims = requestClaims(entries)
    const places = hasOwnPlaces(entries) ? null : keyPlaces.of(principal)
    if (places !== null) claims.push({ kind: 'concurrency', allowance: places, amount: 1 })
    return claims
  }
  return {
    enter(principal) {
      const all = claimsOf(principal, book.limitsOf(principal, null))
      const places = all.filter(({ kind }) => kind === 'concurrency')
      const missing = takeAtOnce(places)
      if (missing.length === 0) return new Entrance(places)
      return enterLater(clock, places)
    },
    async admit(subject, entrance) {
      const entries = book.limitsOf(subject.principal, subject.model)
      const claims = claimsOf(subject.principal, entries).filter(({ allowance }) => entrance?.has(allowance) !== true)
      const short = await whenAvailable(() => takeWhenBack(clock, claims))
      if (short.length > 0) throw rateLimited(short, subject.model)
      countUnenforced(entries)
      return new OpenAdmission(parts, subject, [...(entrance?.handOver() ?? []), ...claims])
    },
    snapshot(principal, models) {
      const entries = models.flatMap((model) => book.limitsOf(principal, model))
      return {
        requests: tightest(entries, 'requests'),
        inputTokens: tightest(entries, 'input-tokens'),
        outputTokens: tightest(entries, 'output-tokens'),
      }
    },
  }
}

/** Where places are shared with other gateways, these may have some left. */
async function enterLater(clock: Clock, places: readonly LimitClaim[]): Promise<Entrance> {
  const short = await whenAvailable(() => takeWhenBack(clock, places))
  if (short.length > 0) throw rateLimited(short, '*')
  return new Entrance(places)
}

function requestClaims(entries: readonly LimitEntry[]): LimitClaim[] {
  return entries.flatMap(({ limit, allowances }) => {
    const [requests, places] = [allowances.get('requests'), allowances.get('concurrency')]
    const claims: LimitClaim[] = []
    if (requests !== undefined && limit.isRequestsEnforced) {
      claims.push({ kind: 'requests', allowance: requests, amount: 1 })
    }
    if (places !== undefined) claims.push({ kind: 'concurrency', allowance: places, amount: 1 })
    return claims
  })
}

/** Counts requests where their limit is not enforced, as far as it goes: nobody is refused, and no debt is shown. */
function countUnenforced(entries: readonly LimitEntry[]): void {
  for (const { limit, allowances } of entries) {
    const requests = allowances.get('requests')
    if (requests === undefined || limit.isRequestsEnforced) continue
    const count = () => {
      if (requests.free() >= 1) requests.take(1)
    }
    // Nobody waits for it; where those who share it cannot be asked, it is not counted.
    if (requests.free() >= 1) count()
    else requests.replenish(1).then(count, () => {})
  }
}

/** Whether a limit for all models says how many requests the key itself may have under way. */
function hasOwnPlaces(entries: readonly LimitEntry[]): boolean {
  return entries.some(
    ({ limit }) => limit.subject.kind === 'api-key' && limit.model === '*' && limit.concurrency !== null,
  )
}

function tightest(entries: readonly LimitEntry[], kind: LimitKind): LimitState | null {
  let found: LimitState | null = null
  for (const { allowances } of entries) {
    const allowance = allowances.get(kind)
    if (allowance === undefined) continue
    const { limit } = allowance
    const remaining = allowance.remaining()
    if (found !== null && (remaining - found.remaining || limit - found.limit) >= 0) continue
    found = { limit, remaining, fullInMs: allowance.waitMs(limit) ?? 0 }
  }
  return found
}

/** How many requests of a key this process has under way, for keys without such a limit of their own. */
export class KeyPlaces {
  readonly #most: number | null
  readonly #keys = new Map<string, FixedAllowance>()

  constructor(most: number | null) {
    this.#most = most
  }

  /** Null where there is no such default. */
  of({ apiKeyId, quotaId }: ApiKeyPrincipal): FixedAllowance | null {
    if (this.#most === null) return null
    const key = quotaId ?? apiKeyId
    const places = this.#keys.get(key) ?? this.#forgetting(key, this.#most)
    this.#keys.set(key, places)
    return places
  }

  /** Keys without requests are not remembered. */
  #forgetting(key: string, most: number): FixedAllowance {
    const places = createFixedAllowance(most)
    return {
      ...places,
      limit: most,
      get reserved() {
        return places.reserved
      },
      spent: 0,
      settle: (taken) => {
        places.settle(taken, 0)
        if (places.reserved === 0) this.#keys.delete(key)
      },
    }
  }
}
