import type { Feature } from './feature.ts'
import type { EngineRequest, GenerationEvent } from './generation.ts'

/**
 * Decides when an engine may compute a request, and follows what it makes of it.
 *
 * An engine that is given one prepares the request at once, and refuses it if it
 * must; but it computes nothing before its turn has come.
 */
export type Turn = {
  /**
   * Called when the prompt is prepared and fits. Resolves when the request may have a slot, and rejects
   * with what its stream is to throw. An engine that had to prepare it again asks again and hears the same.
   */
  begin(inputTokens: number): Promise<TurnTerms | void>
  /**
   * Asked before a short prompt is prepared: whether it may have a slot at once if it turns out to have no more
   * tokens than these. Null where it has to be prepared and counted first; else `counted` or `begin` follows.
   */
  beginUncounted?(inputTokensMax: number): TurnTerms | null
  /** A prompt that has begun uncounted has so many tokens. */
  counted?(inputTokens: number): void
  /** Called with each event as soon as it is made, which may be long before anybody reads it. */
  made(event: GenerationEvent): void
}

/** On what terms a request may begin. */
export type TurnTerms = {
  /** Where it is less than the request asked for, the answer ends with `length` when it is reached. */
  readonly outputTokensMax: number
}

/** Anything that can answer a generation request: a llama.cpp child, a remote replica, a pool of engines. */
export interface Engine {
  /**
   * Generates until the model ends, a limit is met or `signal` fires.
   *
   * An abort stops the engine within one decode step; the stream then throws
   * a GenerationAborted with the final counts. Without a turn the engine
   * begins as soon as it has a slot.
   */
  generate(request: EngineRequest, signal: AbortSignal, turn?: Turn): AsyncIterable<GenerationEvent>
  /** The exact length of the prompt that `generate` would compute. */
  countTokens(request: EngineRequest, signal: AbortSignal): Promise<number>
  status(): EngineStatus
  close(): Promise<void>
}

export type EngineStatus = {
  readonly state: 'loading' | 'ready' | 'down' | 'closed'
  /** Prompt and answer together; null until it is known. */
  readonly windowTokens: number | null
  readonly features: ReadonlySet<Feature>
  /** Generations that hold a slot, and those that wait for one. */
  readonly running: number
  readonly waiting: number
  readonly slots: number | null
  /**
   * Tokens that were guessed and computed ahead since the engine began, and those of them that
   * its answers then had, as known a second ago. Absent where the engine does not say.
   */
  readonly drafts?: { readonly drafted: number; readonly accepted: number }
}
