import type { Failures } from '../campaign.ts'

export const outputPerMinute = 60_000
/** It is spent slowly, so that some is left when PostgreSQL returns; a short run spends less of it meanwhile. */
export const microsMaxOf = ({ isTimed }: Pick<Course, 'isTimed'>) => (isTimed ? 6_000 : 2_000)

export type Course = {
  /** What PostgreSQL does to those who ask it. */
  readonly outage: 'refuses' | 'hangs'
  readonly seconds: number
  readonly seed: number
  readonly failures: Failures
  readonly isTimed: boolean
}

export type Away = { readonly fromMs: number; readonly toMs: number }
