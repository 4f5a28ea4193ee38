import type { ErrorPath } from './error.ts'
import type { Feature } from './feature.ts'
import type { EngineRequest, GenerationEvent } from './generation.ts'

/** Anything that can answer a generation request: a llama.cpp child, a remote replica, a pool of engines. */
export interface Engine {
  /**
   * Begins to make a request's prompt into tokens, and computes nothing of it.
   *
   * What comes of it is either run and read to its end, or cancelled. When `signal` fires the engine stops within
   * one decode step; the stream then throws a GenerationAborted with the final counts.
   */
  prepare(request: EngineRequest, signal: AbortSignal): Prepared
  status(): EngineStatus
  close(): Promise<void>
}

/** A request on its way to an answer. */
export interface Prepared {
  /** More tokens than its prompt can be expected to have, known at once; null where it has to be counted. */
  readonly tokensMax: number | null
  /** The exact length of the prompt. Rejects with what the request is refused with. */
  readonly tokens: Promise<number>
  /** Where in the request's schemas keywords stand that the answer is not held to. Empty until `tokens` has resolved. */
  readonly unenforced: readonly ErrorPath[]
  /** Which of several copies of the model works on it, for the operator alone; absent where there is one. */
  readonly replica?: string | null
  /** Why it came to that copy, for the operator alone; absent where there was nothing to choose. */
  readonly routing?: RoutingReason | null
  /** Whose word the counts of its usage are; absent where they are this service's own. */
  readonly countSource?: CountSource
  /**
   * Generates until the model ends, a limit is met or the signal fires. It may be called before `tokens` has resolved,
   * and is called once, but for the case that `RunTerms` names.
   */
  run(terms: RunTerms): AsyncIterableIterator<GenerationEvent>
  /**
   * The answer may have so many tokens altogether, if it was run with `firstOutputTokens`; with the last word on it, it
   * ends there with `length`.
   */
  allow(outputTokens: number, isLast: boolean): void
  /** It will not be run, or no longer be read. A second call changes nothing. */
  cancel(): void
}

/** What a replica was chosen by, as it stood when a request was given to it. */
export type RoutingReason = {
  /** Replicas that could have had it at that moment. */
  readonly candidates: number
  /** Tokens of its prompt that the chosen one was believed to hold. */
  readonly matchedTokens: number
  /** Tokens of prompts that the chosen one had yet to compute. */
  readonly outstandingTokens: number
  /** How long it waited in the pool. */
  readonly heldMs: number
}

/** `reported` is the word of an engine elsewhere that takes no tokens, `estimated` bounds where it has not said any. */
export type CountSource = 'reported' | 'estimated'

export type RunTerms = {
  /** Where it is less than the request asked for, the answer ends with `length` when it is reached. */
  readonly outputTokensMax: number
  /** Having made so many tokens the answer waits, keeping its slot, until it is allowed more. */
  readonly firstOutputTokens?: number
  /** Called when half of the tokens allowed last have been made, so that the answer need not wait for more. */
  onNearlyUsed?(): void
  /**
   * For a prompt that is not counted yet: one that has more tokens is not computed. The stream then throws a
   * PromptLongerThanExpected, and the request may be run once more, on terms that are made for its length.
   */
  readonly inputTokensMax?: number
  /**
   * Called where the engine took the request to wait by itself, when a copy of the model is given it; again each time that one
   * is, be it for a further try or for what is still to come of the answer.
   */
  onPlaced?(): void
  /** Called with each event as soon as it is made, which may be long before anybody reads it. */
  onEvent?(event: GenerationEvent): void
}

/** A prompt that was run before it was counted has more tokens than its terms allow. */
export class PromptLongerThanExpected extends Error {
  override readonly name = 'PromptLongerThanExpected'

  constructor() {
    super('The prompt is longer than was expected of it.')
  }
}

/** An engine that is asleep has given its memory back, and loads its weights again for the next request. */
export const engineStates = ['loading', 'ready', 'asleep', 'down', 'closed'] as const

export type EngineState = (typeof engineStates)[number]

/** Tells whether a request is answered, be it after the weights are loaded again. */
export function canAnswer(state: EngineState): boolean {
  return state === 'ready' || state === 'asleep'
}

export type EngineStatus = {
  readonly state: EngineState
  /** Prompt and answer together; null until it is known. */
  readonly windowTokens: number | null
  readonly features: ReadonlySet<Feature>
  /** Whether what it counts is the word of an engine elsewhere; absent where the counts are this service's own. */
  readonly hasReportedCounts?: boolean
  /** Generations that hold a slot, and those that wait for one. */
  readonly running: number
  readonly waiting: number
  readonly slots: number | null
  /** Generations that it takes beyond its slots, and lets wait by itself until it says that they are placed. */
  readonly lookAhead?: number
  /** Generations that it can run beyond its slots, for whoever has none when these are taken. */
  readonly guestSlots?: number
  /**
   * Tokens that were guessed and computed ahead since the engine began, and those of them that
   * its answers then had, as known a second ago. Absent where the engine does not say.
   */
  readonly drafts?: { readonly drafted: number; readonly accepted: number }
}

/** Counts the tokens of the prompt that a request would have, whatever the window. */
export async function countTokens(engine: Engine, request: EngineRequest, signal: AbortSignal): Promise<number> {
  const prepared = engine.prepare({ ...request, windowTokensMax: Infinity }, signal)
  try {
    return await prepared.tokens
  } finally {
    prepared.cancel()
  }
}

/** Runs a request by itself: there are no limits to reserve of and no queue to wait in. */
export function runAlone(
  engine: Engine,
  request: EngineRequest,
  signal: AbortSignal,
): AsyncIterableIterator<GenerationEvent> {
  return engine.prepare(request, signal).run({ outputTokensMax: request.outputTokensMax })
}
