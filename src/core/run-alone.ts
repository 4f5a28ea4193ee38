import type { Engine } from './engine.ts'
import type { EngineRequest, GenerationEvent } from './generation.ts'

/** Runs a request with nobody to ask: no limits, no queue. */
export function runAlone(
  engine: Engine,
  request: EngineRequest,
  signal: AbortSignal,
): AsyncIterableIterator<GenerationEvent> {
  return engine.prepare(request, signal).run({ outputTokensMax: request.outputTokensMax })
}
