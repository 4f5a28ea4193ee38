import { countTokens as countPrompt } from '../core/engine.ts'
import type { ApiKeyPrincipal } from '../core/principal.ts'
import type { Clock } from '../lib/clock.ts'
import { CountLimits, type CountLimitValues } from '../limits/count-limits.ts'
import { CountTurns } from '../scheduling/count-turns.ts'
import { requestBytes } from '../scheduling/make-room.ts'
import type { LimitState } from '../core/limit.ts'
import type { Asked } from './asked.ts'
import { toEngineRequest, type InferenceParts } from './generate.ts'

/** Counts prompts, which costs nothing and computes no answer, beside the generations and without holding them up. */
export interface TokenCounter {
  /** Lets a count in before its body is read. Returns what to call when it is over; throws `rate-limited`. */
  enter(principal: ApiKeyPrincipal): () => void
  /** Counts the tokens of a request's prompt, as its generation would, when it is its turn. */
  count(asked: Asked, signal: AbortSignal): Promise<number>
  /** How many counts a key has left in this minute; null where they are not limited. */
  stateOf(principal: ApiKeyPrincipal): LimitState | null
}

export type TokenCounterParts = Pick<InferenceParts, 'catalog'> & {
  readonly clock: Clock
  readonly limits: CountLimitValues
}

export function createTokenCounter({ catalog, clock, limits: values }: TokenCounterParts): TokenCounter {
  const limits = new CountLimits(clock, values)
  const turns = new CountTurns()
  return {
    enter: (principal) => limits.enter(principal),
    stateOf: (principal) => limits.stateOf(principal),
    async count(asked, signal) {
      const entry = catalog.find(asked.request.model)
      const request = toEngineRequest(asked, entry)
      const end = await turns.take(asked.principal, request.bytes ?? requestBytes(request), signal)
      try {
        return await countPrompt(entry.engine, request, signal)
      } finally {
        end()
      }
    },
  }
}
