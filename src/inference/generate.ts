import type { Ledger } from '../billing/ledger/ledger.ts'
import type { PriceBook } from '../billing/prices/price-book.ts'
import type { Engine } from '../core/engine.ts'
import type { EngineRequest, GenerationEvent } from '../core/generation.ts'
import type { Clock } from '../lib/clock.ts'
import type { Limiter } from '../limits/limiter.ts'
import type { Asked } from './asked.ts'
import type { Catalog, CatalogEntry } from '../models/catalog.ts'
import { createLimitedTurn } from './limited-turn.ts'
import { metered } from './metered.ts'
import { resolveRequest } from './resolve-request.ts'
import { createSettlement } from './settlement.ts'
import { generateSeveral } from './several-answers.ts'

export type InferenceParts = {
  readonly catalog: Catalog
  readonly ledger: Ledger
  readonly prices: PriceBook
  readonly limiter: Limiter
  readonly clock: Clock
}

/**
 * Runs one generation from admission to ledger.
 *
 * Resolves once the first event has arrived, so a caller that awaits it can
 * still answer with an HTTP status; later failures throw from the events.
 * Whatever ends the stream, what the engine did is written to the ledger
 * exactly once, and before `finish` is handed on.
 */
export async function generate(
  parts: InferenceParts,
  asked: Asked,
  signal: AbortSignal,
): Promise<AsyncGenerator<GenerationEvent>> {
  parts.ledger.requireWritable()
  const entry = parts.catalog.find(asked.request.model)
  const request = engineRequest(asked, entry)
  const admission = await parts.limiter.admit({ principal: asked.principal, model: entry.model.id }, asked.entrance)
  const settle = createSettlement(parts, asked, (used) => admission.settle(used))
  const { choiceCount, outputTokensMax } = asked.request
  const isOutputChosen = outputTokensMax !== null
  const turn = createLimitedTurn(admission, { request, choiceCount, isOutputChosen, price: settle.price })
  const engine: Pick<Engine, 'generate'> = { generate: (each, stop) => entry.engine.generate(each, stop, turn) }
  const begin = (stop: AbortSignal): AsyncIterator<GenerationEvent> =>
    choiceCount === 1
      ? engine.generate(request, stop)[Symbol.asyncIterator]()
      : generateSeveral(engine, request, choiceCount, stop)
  const events = metered({ begin, choiceCount }, settle, signal)
  return replay(await events.next(), events)
}

/** The exact prompt length of a request, as its generation would count it. */
export async function countTokens({ catalog }: InferenceParts, asked: Asked, signal: AbortSignal): Promise<number> {
  const entry = catalog.find(asked.request.model)
  return entry.engine.countTokens(engineRequest(asked, entry), signal)
}

function engineRequest({ request, requestId, principal, traceparent }: Asked, entry: CatalogEntry): EngineRequest {
  const traced = traceparent === undefined ? {} : { traceparent }
  return { ...resolveRequest(request, entry), tenant: principal, requestId, ...traced }
}

/** Puts an event that was already read back in front of its stream. */
function replay(
  first: IteratorResult<GenerationEvent>,
  rest: AsyncGenerator<GenerationEvent>,
): AsyncGenerator<GenerationEvent> {
  let pending: IteratorResult<GenerationEvent> | null = first
  return {
    next() {
      if (pending === null) return rest.next()
      const result = pending
      pending = null
      return Promise.resolve(result)
    },
    return: (value) => rest.return(value),
    throw: (error) => rest.throw(error),
    [Symbol.asyncIterator]() {
      return this
    },
    [Symbol.asyncDispose]: () => rest[Symbol.asyncDispose](),
  }
}
