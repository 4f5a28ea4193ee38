import type { RequestId } from '../../core/ids.ts'
import { coveringMicros, picosPerMicro } from '../../core/money.ts'
import type { Clock } from '../../lib/clock.ts'
import type { FixedAllowance } from '../allowances/fixed-allowance.ts'
import type { Amounts, Measure } from './amounts.ts'
import { periodEndMs, periodStartMs } from './budget-period.ts'
import { raisedMax, type Budget, type SubjectReference } from '../settings/setting.ts'
import type { Holding, Settled } from './open-requests.ts'

const measures: readonly Measure[] = ['micros', 'tokens']
const nothing: Amounts = { micros: 0, tokens: 0 }

/** What the ledger holds, and the number of its row up to which that was summed: every later row has a higher one. */
export type LedgerSum<Sum> = { readonly sum: Sum; readonly upTo: number }

/** From the first moment on and before the second. */
type Range = { readonly fromMs: number; readonly beforeMs: number }

/** What the ledger holds of a subject, from a moment on and before another, without the rows of these requests. */
export type ReadSpent = (
  subject: SubjectReference,
  range: Range,
  without: readonly RequestId[],
) => Promise<LedgerSum<Amounts>>

export type BudgetAllowanceToOpen = {
  readonly id: string
  readonly period: AllowancePeriod
  readonly limit: number
  /** What the ledger holds already. */
  readSpent(without: readonly RequestId[]): Promise<LedgerSum<number>>
  /** Nothing can be in the ledger yet: its period has only begun. */
  readonly isFresh: boolean
}

/** For how long an allowance is of use. */
export type AllowancePeriod = Range & {
  /** The allowance of the period before, of which requests may still hold something; null where there was none. */
  readonly previousId: string | null
  /** What is still reserved belongs to the next one. */
  whenOver(): void
}

/** The requests that a budget applies to and that were there before it. */
export type RequestsBefore = { underWay(): readonly Holding[]; justSettled(): readonly Settled[] }

export type BudgetParts = {
  readonly clock: Clock
  readonly readSpent: ReadSpent
  openBudgetAllowance(allowance: BudgetAllowanceToOpen): FixedAllowance
  /**
   * Called once in a period for each of the budget's alerts, when spending reaches it. What was spent is read of both
   * measures, whichever the budget limits.
   */
  alert(
    budget: Budget,
    reached: { readonly percent: number; readonly periodStart: number },
    readSpent: () => Promise<Amounts>,
  ): void
}

/** A part of a budget's allowance, to be taken for a request. */
export type BudgetClaim = {
  readonly account: BudgetAccount
  readonly measure: Measure
  readonly allowance: FixedAllowance
}

const unlimited = Number.MAX_SAFE_INTEGER

type Allowances = Partial<Record<Measure, FixedAllowance>>

/**
 * Keeps what is spent and reserved of one budget.
 *
 * What is spent is what the ledger says and what has been settled since, and what is reserved is what all requests
 * under way have reserved, whether they were there before the budget or came after. When a period ends, what they have
 * reserved is reserved of the next one: that is when they will have been paid for.
 */
export class BudgetAccount {
  readonly #parts: BudgetParts
  readonly #requests: RequestsBefore
  #budget: Budget
  #startMs: number | null = null
  /** The moments of the current period: from the first one on and before the second. */
  #period: readonly [number, number] = [0, 0]
  #allowances: Allowances = {}
  /** The alerts of the current period that were reached. */
  #alerted = new Set<number>()
  #isRaised = false
  /** The part of the last micro-unit spent that no cost has come to yet. */
  #paidAheadPicos = 0n

  constructor(budget: Budget, parts: BudgetParts, requests: RequestsBefore) {
    this.#budget = budget
    this.#parts = parts
    this.#requests = requests
  }

  get budget(): Budget {
    return this.#budget
  }

  /** The budget was changed; what is spent of it stays spent. */
  change(budget: Budget): void {
    this.#budget = budget
    this.#period = [0, 0]
    this.#resize()
    // At once: what is under way and ends before anybody else asks has to be counted.
    this.#current()
  }

  claims(): BudgetClaim[] {
    const allowances = this.#current()
    return measures.flatMap((measure) => {
      const allowance = allowances[measure]
      return allowance === undefined ? [] : [{ account: this, measure, allowance }]
    })
  }

  /** Begins the period that it is by now, if that is another one. */
  beginPeriod(): void {
    this.#current()
  }

  /** Exchanges what a request had reserved for what it has used. */
  settle(reserved: Amounts, settled: Settled): void {
    const { requestId, used, atMs } = settled
    const allowances = this.#current()
    const isOfThisPeriod = atMs >= (this.#startMs ?? 0)
    const paid = isOfThisPeriod ? { micros: this.#payInWhole(used.costPicos), tokens: used.tokens } : nothing
    for (const measure of measures) allowances[measure]?.settle(reserved[measure], paid[measure], requestId)
    this.#alertIfDue(allowances, settled)
  }

  /**
   * The budget has refused a request that needed so much of it at the least.
   *
   * That is how a budget is used up: what is left pays for no further request, so its last percents are never spent and
   * nobody would be told. A request that not even the whole of it could pay for says nothing of what is left.
   */
  refused(least: Amounts): void {
    if (measures.some((measure) => least[measure] > (this.#limitOf(measure) ?? Infinity))) return
    if (this.#budget.alertPercents.includes(100) && !this.#alerted.has(100)) this.#alert(100, [])
  }

  /** Gives back what a request has reserved and will not need. */
  giveBack(tooMuch: Amounts): void {
    const allowances = this.#current()
    for (const measure of measures) allowances[measure]?.settle(tooMuch[measure], 0)
  }

  /** What was paid too much pays first: of a thousand tiny costs only their sum is rounded, and always upwards. */
  #payInWhole(costPicos: bigint): number {
    const due = costPicos - this.#paidAheadPicos
    const micros = due > 0n ? coveringMicros(due) : 0n
    this.#paidAheadPicos = micros * picosPerMicro - due
    return Number(micros)
  }

  /** What requests under way have taken and not settled. */
  reserved(): Amounts {
    return this.#read(({ reserved }) => reserved)
  }

  spent(): Amounts {
    return this.#read(({ spent }) => spent)
  }

  /** When the next period begins. */
  endMs(): number {
    return periodEndMs(this.#budget.period, this.#parts.clock.nowMs())
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.#allowances).map((allowance) => allowance.close()))
  }

  /** Reads a value of each measure that the budget limits; the others are zero. */
  #read(value: (allowance: FixedAllowance) => number): Amounts {
    const allowances = this.#current()
    const read = (measure: Measure) => {
      const allowance = this.#limitOf(measure) === null ? undefined : allowances[measure]
      return allowance === undefined ? 0 : value(allowance)
    }
    return { micros: read('micros'), tokens: read('tokens') }
  }

  #current(): Allowances {
    const { raise } = this.#budget
    if (raise !== null && this.#isRaised !== this.#parts.clock.nowMs() < raise.untilMs) this.#resize()
    const startMs = this.#findStartMs()
    const isLater = this.#startMs !== null && startMs > this.#startMs
    if (startMs !== this.#startMs) {
      const old = this.#allowances
      this.#allowances = {}
      this.#startMs = startMs
      this.#alerted.clear()
      for (const measure of measures) this.#open(measure, isLater, old[measure])
    }
    for (const measure of measures) if (this.#allowances[measure] === undefined) this.#open(measure, false)
    return this.#allowances
  }

  #resize(): void {
    const { raise } = this.#budget
    this.#isRaised = raise !== null && this.#parts.clock.nowMs() < raise.untilMs
    // What is no longer limited is counted on until the period ends: it may be limited again before.
    for (const measure of measures) this.#allowances[measure]?.resize(this.#limitOf(measure) ?? unlimited)
  }

  /** What the budget has of it now; null where it does not limit it. */
  #limitOf(measure: Measure): number | null {
    const name = measure === 'micros' ? 'microsMax' : 'tokensMax'
    return this.#isRaised ? raisedMax(this.#budget, name) : this.#budget[name]
  }

  /** When the current period began. The calendar is asked once in a period, not for each request. */
  #findStartMs(): number {
    const nowMs = this.#parts.clock.nowMs()
    const [startMs, endMs] = this.#period
    if (nowMs >= startMs && nowMs < endMs) return startMs
    const { period } = this.#budget
    this.#period = [periodStartMs(period, nowMs), periodEndMs(period, nowMs)]
    return this.#period[0]
  }

  /** Whatever is under way has reserved of it from its beginning on, as if it had been there before. */
  #open(measure: Measure, isFresh: boolean, previous?: FixedAllowance): void {
    const limit = this.#limitOf(measure)
    // Each request comes by for what is not limited: the calendar is left alone.
    if (limit === null) return
    const { organizationId, subject, period, id } = this.#budget
    const range = this.#range()
    const startMs = range.fromMs
    const idOf = (periodStart: number) => `${id}:${measure}:${periodStart}`
    const previousMs = periodStartMs(period, startMs - 1)
    const readSpent = async (without: readonly RequestId[]) => {
      const { sum, upTo } = await this.#parts.readSpent({ organizationId, subject }, range, without)
      return { sum: sum[measure], upTo }
    }
    const allowance = this.#parts.openBudgetAllowance({
      id: idOf(startMs),
      period: {
        ...range,
        previousId: previousMs < startMs ? idOf(previousMs) : null,
        whenOver: () => this.beginPeriod(),
      },
      limit,
      readSpent,
      isFresh,
    })
    if (measure === 'micros') this.#paidAheadPicos = 0n
    for (const { requestId, amounts } of this.#requests.underWay()) allowance.join(requestId, amounts[measure])
    for (const { requestId, used, atMs } of this.#requests.justSettled()) {
      if (atMs < startMs) continue
      allowance.join(requestId, 0)
      allowance.settle(0, measure === 'micros' ? Number(coveringMicros(used.costPicos)) : used.tokens, requestId)
    }
    this.#allowances[measure] = allowance
    // What it holds is of no use any more once the new one has it, and a failure to return it lapses by itself.
    if (previous !== undefined) void replaceBy(allowance, previous).catch(() => {})
  }

  #range(): Range {
    const fromMs = this.#startMs ?? 0
    return { fromMs, beforeMs: periodEndMs(this.#budget.period, fromMs) }
  }

  #alertIfDue(allowances: Allowances, last: Settled): void {
    const { alertPercents } = this.#budget
    for (const percent of alertPercents) {
      if (this.#alerted.has(percent)) continue
      if (!Object.values(allowances).some((allowance) => isReached(allowance, percent))) return
      this.#alert(percent, [last])
    }
  }

  /** Once in a period: whatever else reaches it writes nothing. */
  #alert(percent: number, last: readonly Settled[]): void {
    this.#alerted.add(percent)
    const range = this.#range()
    // The ledger may be summed up to a row before theirs.
    const settled = [...this.#requests.justSettled(), ...last].filter(({ atMs }) => atMs >= range.fromMs)
    const reached = { percent, periodStart: range.fromMs }
    this.#parts.alert(this.#budget, reached, () => this.#readSpent(range, settled))
  }

  /** An allowance knows nothing of what is not limited, and little until it has read the ledger. */
  async #readSpent(range: Range, settled: readonly Settled[]): Promise<Amounts> {
    const { organizationId, subject } = this.#budget
    const ids = settled.map(({ requestId }) => requestId)
    const { sum } = await this.#parts.readSpent({ organizationId, subject }, range, ids)
    const picos = settled.reduce((all, { used }) => all + used.costPicos, 0n)
    const tokens = settled.reduce((all, { used }) => all + used.tokens, 0)
    return { micros: sum.micros + Number(coveringMicros(picos)), tokens: sum.tokens + tokens }
  }
}

/** Whether a share of it, in percent, is spent. */
export function isReached({ spent, limit }: Pick<FixedAllowance, 'spent' | 'limit'>, percent: number): boolean {
  return BigInt(spent) * 100n >= BigInt(limit) * BigInt(percent)
}

/** Others must find what is under way in one of them at every moment. */
async function replaceBy(next: FixedAllowance, previous: FixedAllowance): Promise<void> {
  try {
    await next.replenish(0)
  } finally {
    await previous.close()
  }
}
