import { worstCaseCost, type PriceInForce } from '../billing/prices/price.ts'
import type { Turn } from '../core/engine.ts'
import type { EngineRequest, Message, Tool } from '../core/generation.ts'
import type { Admission } from '../limits/open-admission.ts'
import type { OutputWish } from '../limits/token-claims.ts'

export type Bounds = {
  readonly request: EngineRequest
  readonly choiceCount: number
  /** Whether the client named a limit of output tokens. */
  readonly isOutputChosen: boolean
  /** Null where the model has none, so that nothing is charged. */
  readonly price: PriceInForce | null
}

/** Lets a request's prepared answers into the queue once their worst case is reserved, all of them together. */
export function createLimitedTurn(admission: Admission, { request, choiceCount, isOutputChosen, price }: Bounds): Turn {
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
    async begin(inputTokens) {
      const granted = await admission.reserve(wishFor(inputTokens))
      return { outputTokensMax: Math.floor(granted / choiceCount) }
    },
    beginUncounted(inputTokensMax) {
      // Several answers begin one by one, and reserve together.
      const granted = choiceCount === 1 ? admission.reserveUncounted(wishFor(inputTokensMax)) : null
      return granted === null ? null : { outputTokensMax: granted }
    },
    counted: (inputTokens) => admission.counted(wishFor(inputTokens)),
    made() {},
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
