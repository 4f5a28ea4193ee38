import type { Usage } from '../core/generation.ts'
import type { ModelId } from '../core/model.ts'

/** The record of a generation that is over, without anything that was asked or answered. */
export type GenerationRecord = {
  readonly requestId: string
  readonly model: ModelId
  readonly outcome: 'finished' | 'aborted' | 'failed'
  /** Why a finished generation ended, or the error code of a failed one. */
  readonly reason: string | null
  readonly usage: Usage
  /** Null where it never came so far. */
  readonly queueMs: number | null
  readonly prefillMs: number | null
  readonly firstTokenMs: number | null
  readonly durationMs: number
  /** For metrics and traces, which count in fractions; what is billed is in the ledger. */
  readonly costMicros: number | null
}
