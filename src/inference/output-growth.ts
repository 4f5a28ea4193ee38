import type { Prepared } from '../core/engine.ts'
import type { Clock } from '../lib/clock.ts'

/** What becomes of an answer that has used up a limit of output tokens: it waits, keeping its slot, or it ends there. */
export type OverLimit = 'pause' | 'length'

export type GrowthParts = {
  readonly clock: Clock
  readonly prepared: Prepared
  readonly overLimit: OverLimit
  /** Takes so many output tokens more. Returns after how many milliseconds that can be done; zero where it was. */
  take(tokens: number): number
  /** How much is taken at a time. */
  readonly slice: number
}

/** Limits are raised, and others end: so often a waiting answer looks whether it may go on. */
const lookMs = 1_000

/** Takes further slices of the limits of output tokens while an answer grows. */
export class OutputGrowth {
  readonly #parts: GrowthParts
  #allowed: number
  #cancelWait: (() => void) | null = null

  constructor(parts: GrowthParts, firstOutputTokens: number) {
    this.#parts = parts
    this.#allowed = firstOutputTokens
  }

  /** How many tokens the answer may have as yet. */
  get allowed(): number {
    return this.#allowed
  }

  /** The answer will soon have made all it may. */
  grow(): void {
    const { clock, prepared, overLimit, slice } = this.#parts
    if (this.#cancelWait !== null) return
    const waitMs = this.#parts.take(slice)
    if (waitMs === 0) {
      this.#allowed += slice
      prepared.allow(this.#allowed, false)
    } else if (overLimit === 'length') {
      prepared.allow(this.#allowed, true)
    } else {
      this.#cancelWait = clock.after(Math.min(waitMs, lookMs), () => {
        this.#cancelWait = null
        this.grow()
      })
    }
  }

  /** The answer is over. */
  end(): void {
    this.#cancelWait?.()
    this.#cancelWait = () => {}
  }
}
