import type { Ledger } from '../billing/ledger/ledger.ts'
import type { PriceBook } from '../billing/prices/price-book.ts'
import { countTokens as countPrompt } from '../core/count-tokens.ts'
import type { EngineRequest, GenerationEvent } from '../core/generation.ts'
import type { Clock } from '../lib/clock.ts'
import type { Limiter } from '../limits/limiter.ts'
import type { Catalog, CatalogEntry } from '../models/catalog.ts'
import { Answer } from './answer.ts'
import { AnswerStream } from './answer-stream.ts'
import type { Asked } from './asked.ts'
import { resolveRequest } from './resolve-request.ts'
import { createSettlement } from './settlement.ts'
import { createWorstCase } from './worst-case.ts'

export type InferenceParts = {
  readonly catalog: Catalog
  readonly ledger: Ledger
  readonly prices: PriceBook
  readonly limiter: Limiter
  readonly clock: Clock
}

/**
 * Runs one generation: find the model, let the request in, then for each answer prepare, reserve, slot and run
 * (`answer.ts`), and while they run meter, and settle at the end (`answer-stream.ts`).
 *
 * Resolves once the first event has arrived, so a caller that awaits it can still answer with an HTTP status; later
 * failures throw from the events. Whatever ends the stream, what the engine did is written to the ledger exactly once,
 * and before `finish` is handed on.
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
  const settlement = createSettlement(parts, asked, (used) => admission.settle(used))
  const { choiceCount, outputTokensMax } = asked.request
  const isOutputChosen = outputTokensMax !== null
  const worstCase = createWorstCase(admission, { request, choiceCount, isOutputChosen, price: settlement.price })
  const begin = (index: number, stop: AbortSignal) => {
    const meter = settlement.meter.of(index)
    return new Answer({ lane: entry, worstCase, meter, signal: stop }, withSeedOf(request, index))
  }
  const stream = new AnswerStream({ choiceCount, begin, settlement, signal })
  await stream.begun()
  return stream
}

/** The exact prompt length of a request, as its generation would count it. */
export async function countTokens({ catalog }: InferenceParts, asked: Asked, signal: AbortSignal): Promise<number> {
  const entry = catalog.find(asked.request.model)
  return countPrompt(entry.engine, engineRequest(asked, entry), signal)
}

function engineRequest({ request, requestId, principal, traceparent }: Asked, entry: CatalogEntry): EngineRequest {
  const traced = traceparent === undefined ? {} : { traceparent }
  return { ...resolveRequest(request, entry), tenant: principal, requestId, ...traced }
}

/** With one seed for all, all answers would be one. */
export function withSeedOf(request: EngineRequest, index: number): EngineRequest {
  const { seed } = request.sampling
  if (seed === null || index === 0) return request
  return { ...request, sampling: { ...request.sampling, seed: (seed + index) % 2 ** 32 } }
}
