import type { Engine } from './engine.ts'
import type { EngineRequest } from './generation.ts'

/** The exact length of the prompt that a request would have, whatever the window. */
export async function countTokens(engine: Engine, request: EngineRequest, signal: AbortSignal): Promise<number> {
  const prepared = engine.prepare({ ...request, windowTokensMax: Infinity }, signal)
  try {
    return await prepared.tokens
  } finally {
    prepared.cancel()
  }
}
