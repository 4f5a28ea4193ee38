import type { Ledger } from '../billing/ledger.ts'
import type { PriceBook } from '../billing/prices/price-book.ts'
import type { Engine } from '../core/engine.ts'
import { toApiError } from '../core/error.ts'
import {
  GenerationAborted,
  zeroUsage,
  type EngineRequest,
  type GenerationEvent,
  type Usage,
} from '../core/generation.ts'
import type { Clock } from '../lib/clock.ts'
import type { Limiter } from '../limits/limiter.ts'
import type { Asked } from './asked.ts'
import type { Catalog, CatalogEntry } from './catalog.ts'
import { createLimitedTurn } from './limited-turn.ts'
import { resolveRequest } from './resolve-request.ts'
import { createSettlement, type Settlement } from './settlement.ts'
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
  const admission = await parts.limiter.admit({ principal: asked.principal, model: entry.model.id })
  const settle = createSettlement(parts, asked, (used) => admission.settle(used))
  const { choiceCount, outputTokensMax } = asked.request
  const isOutputChosen = outputTokensMax !== null
  const turn = createLimitedTurn(admission, { request, choiceCount, isOutputChosen, price: settle.price })
  const engine: Pick<Engine, 'generate'> = { generate: (each, stop) => entry.engine.generate(each, stop, turn) }
  const begin = (stop: AbortSignal) => generateSeveral(engine, request, choiceCount, stop)
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

/**
 * Passes events through and keeps the account of them.
 *
 * When the reader stops early, the engine is told to stop and its last word on
 * the counts is waited for: tokens may have left it that nobody has read.
 */
async function* metered(
  { begin, choiceCount }: { begin(signal: AbortSignal): AsyncGenerator<GenerationEvent>; readonly choiceCount: number },
  settle: Settlement,
  signal: AbortSignal,
): AsyncGenerator<GenerationEvent> {
  const abandoned = new AbortController()
  const source = begin(AbortSignal.any([signal, abandoned.signal]))
  let finished = 0
  let isOver = false
  try {
    for (;;) {
      const { done, value } = await source.next()
      if (done === true) throw new Error('The engine ended its stream without a finish event.')
      settle.count(value)
      if (value.type === 'finish') finished += 1
      if (value.type === 'finish' && finished === choiceCount) {
        isOver = true
        // Nobody may read on after this, and a stream that is left half read never lets go of its place.
        await source.return(undefined)
        await settle.close('finished', value.reason.kind)
      }
      yield value
      if (isOver) return
    }
  } catch (error) {
    isOver = true
    if (error instanceof GenerationAborted) settle.correct(error.usage)
    const isAborted = signal.aborted || error instanceof GenerationAborted
    await settle.close(isAborted ? 'aborted' : 'failed', isAborted ? null : toApiError(error).code)
    throw error
  } finally {
    if (!isOver) {
      abandoned.abort()
      settle.correct(await usageAfterAbort(source))
      await settle.close('aborted', null)
    }
  }
}

/** Reads an aborted engine's stream to its end, which the engine reaches within one decode step. */
async function usageAfterAbort(source: AsyncIterator<GenerationEvent>): Promise<Usage> {
  try {
    let last = zeroUsage
    for (let next = await source.next(); next.done !== true; next = await source.next()) {
      if (next.value.type === 'finish') last = next.value.usage
    }
    return last
  } catch (error) {
    return error instanceof GenerationAborted ? error.usage : zeroUsage
  }
}

/**
 * Puts an event that was already read back in front of its stream.
 *
 * Written by hand because closing a generator that never ran skips its
 * `finally`, and the ledger entry lives in the `finally` of `rest`.
 */
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
