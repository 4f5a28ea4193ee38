import type { Clock } from '../../lib/clock.ts'
import type { Fund } from '../allowances/fund-allowance.ts'
import type { Budget, BudgetPlace } from '../settings/budget-settings.ts'
import { periodEndMs, periodStartMs } from './budget-period.ts'

/** Money in millionths of a unit, and tokens, prompt and answer together. */
export type Amounts = { readonly micros: number; readonly tokens: number }
export type Measure = keyof Amounts
const measures: readonly Measure[] = ['micros', 'tokens']

/** What the ledger holds of a subject, from a moment on and before another. */
export type ReadSpent = (
  place: Pick<BudgetPlace, 'organizationId' | 'subject'>,
  range: { readonly fromMs: number; readonly beforeMs: number },
) => Promise<Amounts>

export type FundToOpen = {
  readonly id: string
  readonly limit: number
  /** What the ledger holds already. */
  readSpent(): Promise<number>
  /** Nothing can be in the ledger yet: its period has only begun. */
  readonly isFresh: boolean
}

export type BudgetParts = {
  readonly clock: Clock
  readonly readSpent: ReadSpent
  openFund(fund: FundToOpen): Fund
  /** Called once in a period, when spending reaches the budget's alert. */
  alert(budget: Budget, periodStart: number, spent: Amounts): void
}

/** A part of a budget's fund, to be taken for a request. */
export type BudgetClaim = { readonly account: BudgetAccount; readonly measure: Measure; readonly allowance: Fund }

type Funds = Partial<Record<Measure, Fund>>

/**
 * What is spent and reserved of one budget.
 *
 * When a period ends, what its requests have reserved is reserved of the next
 * one: that is when they will have been paid for.
 */
export class BudgetAccount {
  readonly #parts: BudgetParts
  #budget: Budget
  #startMs: number | null = null
  /** The moments of the current period: from the first one on and before the second. */
  #period: readonly [number, number] = [0, 0]
  #funds: Funds = {}
  #hasAlerted = false

  constructor(budget: Budget, parts: BudgetParts) {
    this.#budget = budget
    this.#parts = parts
  }

  get budget(): Budget {
    return this.#budget
  }

  /** The budget was changed; what is spent of it stays spent. */
  change(budget: Budget): void {
    const isSameAlert = budget.alertPercent === this.#budget.alertPercent
    this.#budget = budget
    this.#period = [0, 0]
    this.#hasAlerted &&= isSameAlert
    for (const measure of measures) {
      const limit = limitOf(budget, measure)
      if (limit !== null) this.#funds[measure]?.resize(limit)
      else this.#drop(measure)
    }
  }

  claims(): BudgetClaim[] {
    const funds = this.#current()
    return measures.flatMap((measure) => {
      const allowance = funds[measure]
      return allowance === undefined ? [] : [{ account: this, measure, allowance }]
    })
  }

  /** Exchanges what a request had taken for what it has used. `atMs` is the ledger's time for it. */
  settle(taken: Partial<Amounts>, used: Amounts, atMs: number): void {
    const funds = this.#current()
    const isOfThisPeriod = atMs >= (this.#startMs ?? 0)
    for (const measure of measures) funds[measure]?.settle(taken[measure] ?? 0, isOfThisPeriod ? used[measure] : 0)
    this.#alertIfDue(funds)
  }

  /** What requests under way have taken and not settled. */
  reserved(): Amounts {
    const { micros, tokens } = this.#current()
    return { micros: micros?.reserved ?? 0, tokens: tokens?.reserved ?? 0 }
  }

  /** When the next period begins. */
  endMs(): number {
    return periodEndMs(this.#budget.period, this.#parts.clock.nowMs())
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.#funds).map((fund) => fund.close()))
  }

  #current(): Funds {
    const startMs = this.#findStartMs()
    const isLater = this.#startMs !== null && startMs > this.#startMs
    if (startMs !== this.#startMs) {
      const old = this.#funds
      this.#funds = {}
      this.#startMs = startMs
      this.#hasAlerted = false
      for (const measure of measures) this.#open(measure, isLater, old[measure])
    }
    for (const measure of measures) if (this.#funds[measure] === undefined) this.#open(measure, false)
    return this.#funds
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

  #open(measure: Measure, isFresh: boolean, previous?: Fund): void {
    const { organizationId, subject, period, id } = this.#budget
    const limit = limitOf(this.#budget, measure)
    if (limit === null) return
    const startMs = this.#startMs ?? 0
    const range = { fromMs: startMs, beforeMs: periodEndMs(period, startMs) }
    const readSpent = async () => (await this.#parts.readSpent({ organizationId, subject }, range))[measure]
    const fund = this.#parts.openFund({
      id: `${id}:${measure}:${startMs}`,
      limit,
      readSpent,
      isFresh,
    })
    fund.take(previous?.reserved ?? 0)
    this.#funds[measure] = fund
    // What it holds beyond that is of no use to the new period, and a failure to return it lapses by itself.
    previous?.close().catch(() => {})
  }

  /** What it holds is of no use any more, and a failure to return it lapses by itself. */
  #drop(measure: Measure): void {
    this.#funds[measure]?.close().catch(() => {})
    delete this.#funds[measure]
  }

  #alertIfDue(funds: Funds): void {
    const { alertPercent } = this.#budget
    if (alertPercent === null || this.#hasAlerted) return
    const isDue = Object.values(funds).some(
      ({ spent, limit }) => BigInt(spent) * 100n >= BigInt(limit) * BigInt(alertPercent),
    )
    if (!isDue) return
    this.#hasAlerted = true
    const spent = { micros: funds.micros?.spent ?? 0, tokens: funds.tokens?.spent ?? 0 }
    this.#parts.alert(this.#budget, this.#startMs ?? 0, spent)
  }
}

function limitOf(budget: Budget, measure: Measure): number | null {
  return measure === 'micros' ? budget.microsMax : budget.tokensMax
}
