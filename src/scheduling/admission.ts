import type { Engine } from '../core/engine.ts'
import { ApiError } from '../core/error.ts'
import type { GenerationEvent } from '../core/generation.ts'

/**
 * An engine that refuses work beyond what its slots and a bounded queue can hold.
 *
 * A client that is told at once can go elsewhere or come back; one that waits
 * behind hundreds of others would give up after its answer was paid for.
 */
export function withAdmission(engine: Engine, { waitingMax }: { readonly waitingMax: number }): Engine {
  let admitted = 0

  async function* generate(...[request, signal]: Parameters<Engine['generate']>): AsyncGenerator<GenerationEvent> {
    const { slots } = engine.status()
    if (admitted >= (slots ?? 1) + waitingMax) {
      throw new ApiError(
        { code: 'overloaded', retryAfterMs: 2_000 },
        'The model is at capacity. Please try again shortly.',
      )
    }
    admitted += 1
    try {
      yield* engine.generate(request, signal)
    } finally {
      admitted -= 1
    }
  }

  return {
    generate,
    countTokens: (request, signal) => engine.countTokens(request, signal),
    status: () => engine.status(),
    close: () => engine.close(),
  }
}
