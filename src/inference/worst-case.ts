import { worstCaseCost, type PriceInForce } from '../billing/prices/price.ts'
import type { EngineRequest, Message, Tool } from '../core/generation.ts'
import type { Admission } from '../limits/open-admission.ts'
import type { ReservationRequest } from '../limits/token-claims.ts'

export type WorstCaseOf = {
  readonly request: EngineRequest
  readonly choiceCount: number
  /** True where the client named a limit of output tokens. */
  readonly isOutputChosen: boolean
  /** Null where the model has none, so that nothing is charged. */
  readonly price: PriceInForce | null
}

/** Reserves the most that all answers to a request can come to, together. */
export interface WorstCase {
  /** Returns how many output tokens each answer may have. All answers ask, and hear the same. */
  reserve(inputTokens: number): Promise<number>
  /** Reserves for a prompt with no more tokens than these, which is counted in a moment; null where not all of it is free at once. */
  reserveOptimistically(inputTokensMax: number): number | null
  /** Settles an optimistic reservation: the prompt has so many tokens, and what is too much goes back. */
  counted(inputTokens: number): void
  /** How many output tokens each answer may make of what is reserved, and how many it takes at a time after these. */
  outputSlices(): { readonly first: number; readonly slice: number }
  /** Takes more output tokens for one of the answers; returns after how many milliseconds to ask again, zero where it did. */
  growOutput(tokens: number): number
}

export function createWorstCase(
  admission: Admission,
  { request, choiceCount, isOutputChosen, price }: WorstCaseOf,
): WorstCase {
  const cacheLifetimes = [...lifetimesOf(request)]
  const outputTokensMax = request.outputTokensMax * choiceCount
  const requestFor = (inputTokens: number): ReservationRequest => ({
    inputTokens,
    outputTokensMax,
    isOutputChosen,
    worstCaseMicros: (outputTokens) =>
      price === null ? 0 : worstCaseCost(price.rates, { inputTokens, outputTokensMax: outputTokens, cacheLifetimes }),
  })
  return {
    async reserve(inputTokens) {
      return Math.floor((await admission.reserve(requestFor(inputTokens))) / choiceCount)
    },
    // Several answers begin one by one, and reserve together.
    reserveOptimistically: (inputTokensMax) =>
      choiceCount === 1 ? admission.reserveOptimistically(requestFor(inputTokensMax)) : null,
    outputSlices() {
      const { first, slice } = admission.outputSlices()
      return { first: Math.max(1, Math.floor(first / choiceCount)), slice }
    },
    growOutput: (tokens) => admission.growOutput(tokens),
    counted: (inputTokens) => admission.counted(requestFor(inputTokens)),
  }
}

type Part = Tool | Message['content'][number]

function* lifetimesOf({ messages, tools }: EngineRequest): Generator<'5m' | '1h'> {
  for (const part of partsOf(messages, tools)) {
    if ('cacheBreakpoint' in part && part.cacheBreakpoint !== undefined) yield part.cacheBreakpoint.lifetime
  }
}

function* partsOf(messages: readonly Message[], tools: readonly Tool[]): Generator<Part> {
  yield* tools
  for (const { content } of messages) {
    for (const block of content) {
      yield block
      if (block.kind === 'tool-result') yield* block.content
    }
  }
}
