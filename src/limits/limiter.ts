// What a request may use, from its arrival to its last token.
//
//     admit     it counts as a request and takes a place
//     reserve   its prompt has been counted: tokens and money are taken for the worst case
//     settle    it is over: what it did not use is there again
//
// Each step takes all it needs of all limits, or nothing.

import { inputTokens, type Usage } from '../core/generation.ts'
import type { LimitSnapshot, LimitState } from '../core/limit.ts'
import type { ApiKeyPrincipal } from '../core/principal.ts'
import type { Clock } from '../lib/clock.ts'
import { takeTogether } from './allowances/take-together.ts'
import type { Taken, Wish } from './budgets/afford.ts'
import { BudgetLine, giveBack, type Reserved } from './budgets/budget-line.ts'
import { KeyPlaces } from './key-places.ts'
import type { LimitBook, LimitEntry, LimitKind } from './limit-book.ts'
import { rateLimited, type LimitClaim } from './refuse.ts'
import { whenAvailable } from './when-available.ts'

export type Sought = { readonly principal: ApiKeyPrincipal; readonly model: string }

export type OutputWish = Wish & {
  /** Whether the client named a limit; else the model's own stands for it. */
  readonly isOutputChosen: boolean
}

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
  /** The request is over, or never began. A second call changes nothing. */
  settle(used: Used): void
}

export interface Limiter {
  /** Throws `rate-limited` where a request more is too many. */
  admit(sought: Sought): Promise<Admission>
  /** How the limits stand that apply; without a model those for all models. */
  snapshot(principal: ApiKeyPrincipal, model: string | null): LimitSnapshot
}

export type LimiterParts = {
  readonly clock: Clock
  readonly book: LimitBook
  /** For keys without a limit of their own; null for none. */
  readonly requestsPerKeyMax: number | null
}

export function createLimiter({ clock, book, requestsPerKeyMax }: LimiterParts): Limiter {
  const line = new BudgetLine(clock)
  const keyPlaces = new KeyPlaces(requestsPerKeyMax)
  return {
    async admit(sought) {
      const entries = book.limitsOf(sought.principal, sought.model)
      const claims = requestClaims(entries)
      const places = hasOwnPlaces(entries) ? null : keyPlaces.of(sought.principal)
      if (places !== null) claims.push({ kind: 'concurrency', allowance: places, amount: 1 })
      const short = await whenAvailable(() => takeTogether(claims))
      if (short.length > 0) throw rateLimited(short, sought.model)
      countUnenforced(entries)
      return new OpenAdmission({ clock, book, line }, sought, claims)
    },
    snapshot(principal, model) {
      const entries = book.limitsOf(principal, model)
      return {
        requests: tightest(entries, 'requests'),
        inputTokens: tightest(entries, 'input-tokens'),
        outputTokens: tightest(entries, 'output-tokens'),
      }
    },
  }
}

/** Where no limit is named, answers are seldom as long as the model allows; so long they count before they are made. */
const assumedOutputTokensMin = 1_024
const assumedOutputShare = 10

type TokenClaim = LimitClaim & { readonly cachedReadPercent: number }

type AdmissionParts = Pick<LimiterParts, 'clock' | 'book'> & { readonly line: BudgetLine }

class OpenAdmission implements Admission {
  readonly #parts: AdmissionParts
  readonly #sought: Sought
  readonly #requests: readonly LimitClaim[]
  /** Takes a request out of the line for money; one that never stood there has none. */
  #leaveLine: AbortController | null = null
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
    return (this.#reserving ??= this.#reserve(wish))
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
    line.wake()
  }

  async #reserve(wish: OutputWish): Promise<number> {
    const { book, line, clock } = this.#parts
    const { principal, model } = this.#sought
    const tokens = tokenClaims(book.limitsOf(principal, model), wish)
    const short = await whenAvailable(() => takeTogether(tokens))
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

  /** A request that was refused for its tokens is none that was made. */
  #uncount(): void {
    for (const { kind, allowance, amount } of this.#requests) if (kind === 'requests') allowance.settle(amount, 0)
  }
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

/** What is not enforced is counted as far as it goes: nobody is refused for it, and it shows no debt. */
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

function tokenClaims(entries: readonly LimitEntry[], wish: OutputWish): TokenClaim[] {
  return entries.flatMap(({ limit: { cachedReadPercent }, allowances }) => {
    const [input, output] = [allowances.get('input-tokens'), allowances.get('output-tokens')]
    const claims: TokenClaim[] = []
    if (input !== undefined) {
      claims.push({ kind: 'input-tokens', allowance: input, amount: wish.inputTokens, cachedReadPercent })
    }
    if (output !== undefined) {
      const amount = assumedOutput(wish, output.limit)
      claims.push({ kind: 'output-tokens', allowance: output, amount, cachedReadPercent })
    }
    return claims
  })
}

/** Never more than the limit: a client that names a large maximum, or none, would be refused for ever. */
function assumedOutput({ outputTokensMax, isOutputChosen }: OutputWish, limit: number): number {
  const assumed = Math.max(assumedOutputTokensMin, Math.ceil(limit / assumedOutputShare))
  return Math.min(limit, outputTokensMax, isOutputChosen ? outputTokensMax : assumed)
}

function countedTokens({ kind, cachedReadPercent }: TokenClaim, usage: Usage): number {
  if (kind === 'output-tokens') return usage.output
  const { inputUncached, inputCacheRead, inputCacheWrite } = usage
  return inputUncached + inputCacheWrite + Math.ceil((inputCacheRead * cachedReadPercent) / 100)
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
