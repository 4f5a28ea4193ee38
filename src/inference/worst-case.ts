import { worstCaseCost, type PriceInForce } from '../billing/prices/price.ts'
import type { EngineRequest, Message, Tool } from '../core/generation.ts'
import type { Admission } from '../limits/open-admission.ts'
import type { OutputWish } from '../limits/token-claims.ts'

export type WorstCaseOf = {
  readonly request: EngineRequest
  readonly choiceCount: number
  /** Whether the client named a limit of output tokens. */
  readonly isOutputChosen: boolean
  /** Null where the model has none, so that nothing is charged. */
  readonly price: PriceInForce | null
}

/** Reserves the most that all answers to a request can come to, together. */
export interface WorstCase {
  /** Returns how many output tokens each answer may have. All answers ask, and hear the same. */
  reserve(inputTokens: number): Promise<number>
  /** For a prompt with no more tokens than these, which is counted in a moment; null where not all of it is free at once. */
  reserveAtOnce(inputTokensMax: number): number | null
  /** A prompt that was reserved for at once has so many tokens: what is too much goes back. */
  counted(inputTokens: number): void
}

export function createWorstCase(
  admission: Admission,
  { request, choiceCount, isOutputChosen, price }: WorstCaseOf,
): WorstCase {
  const cacheLifetimes = [...lifetimesOf(request)]
  const outputTokensMax = request.outputTokensMax * choiceCount
  const wishFor = (inputTokens: number): OutputWish => ({
    inputTokens,
    outputTokensMax,
    isOutputChosen,
    worstCaseMicros: (outputTokens) =>
      price === null ? 0 : worstCaseCost(price.rates, { inputTokens, outputTokensMax: outputTokens, cacheLifetimes }),
  })
  return {
    async reserve(inputTokens) {
      return Math.floor((await admission.reserve(wishFor(inputTokens))) / choiceCount)
    },
    // Several answers begin one by one, and reserve together.
    reserveAtOnce: (inputTokensMax) => (choiceCount === 1 ? admission.reserveUncounted(wishFor(inputTokensMax)) : null),
    counted: (inputTokens) => admission.counted(wishFor(inputTokens)),
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
