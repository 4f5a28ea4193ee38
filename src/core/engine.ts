import type { Feature } from './feature.ts'
import type { EngineRequest, GenerationEvent } from './generation.ts'

/** Anything that can answer a generation request: a llama.cpp child, a remote replica, a pool of engines. */
export interface Engine {
  /**
   * Generates until the model ends, a limit is met or `signal` fires.
   *
   * An abort stops the engine within one decode step; the stream then throws
   * a GenerationAborted with the final counts.
   */
  generate(request: EngineRequest, signal: AbortSignal): AsyncIterable<GenerationEvent>
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
}
