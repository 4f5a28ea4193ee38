import type { Failures } from '../campaign.ts'

export const outputPerMinute = 60_000
export const microsMax = 6_000

export type Course = {
  /** What PostgreSQL does to those who ask it. */
  readonly outage: 'refuses' | 'hangs'
  readonly seconds: number
  readonly seed: number
  readonly failures: Failures
  readonly isTimed: boolean
}

export type Away = { readonly fromMs: number; readonly toMs: number }
