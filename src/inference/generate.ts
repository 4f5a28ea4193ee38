import type { Ledger, LedgerEntry } from '../billing/ledger.ts'
import { ApiError, toApiError } from '../core/error.ts'
import {
  addAnswer,
  GenerationAborted,
  inputTokens,
  zeroUsage,
  type EngineRequest,
  type CacheReport,
  type GenerationEvent,
  type GenerationRequest,
  type Usage,
} from '../core/generation.ts'
import type { RequestId } from '../core/ids.ts'
import type { ApiKeyPrincipal } from '../core/principal.ts'
import type { Clock } from '../lib/clock.ts'
import type { ConcurrencyLimiter } from '../limits/concurrency-limiter.ts'
import type { Catalog, CatalogEntry } from './catalog.ts'
import { resolveRequest } from './resolve-request.ts'
import { generateSeveral } from './several-answers.ts'

export type InferenceParts = {
  readonly catalog: Catalog
  readonly ledger: Ledger
  readonly limiter: ConcurrencyLimiter
  readonly clock: Clock
}

export type Asked = {
  readonly request: GenerationRequest
  readonly requestId: RequestId
  readonly principal: ApiKeyPrincipal
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
  const entry = parts.catalog.find(asked.request.model)
  const request = engineRequest(asked, entry)
  const reservation = parts.limiter.reserve(asked.principal)
  const settle = createSettlement(parts, asked, () => reservation.release())
  const { choiceCount } = asked.request
  const begin = (stop: AbortSignal) => generateSeveral(entry.engine, request, choiceCount, stop)
  const events = metered({ begin, choiceCount }, settle, signal)
  return replay(await events.next(), events)
}

/** The exact prompt length of a request, as its generation would count it. */
export async function countTokens({ catalog }: InferenceParts, asked: Asked, signal: AbortSignal): Promise<number> {
  const entry = catalog.find(asked.request.model)
  return entry.engine.countTokens(engineRequest(asked, entry), signal)
}

function engineRequest({ request, requestId, principal }: Asked, entry: CatalogEntry): EngineRequest {
  return { ...resolveRequest(request, entry), tenant: principal, requestId }
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

type Settlement = {
  count(event: GenerationEvent): void
  /** Takes the engine's own final counts where they are ahead of what was delivered. */
  correct(usage: Usage): void
  /** Writes the one ledger row; a second call changes nothing. */
  close(outcome: LedgerEntry['outcome'], reason: string | null): Promise<void>
}

function createSettlement({ ledger, clock }: InferenceParts, asked: Asked, release: () => void): Settlement {
  const startedMs = clock.monotonicMs()
  /** Of the answers that have finished, and of the one under way. */
  let finished: Usage = zeroUsage
  let current: Usage = zeroUsage
  let cache: CacheReport | null = null
  let firstEventMs: number | null = null
  let isClosed = false
  return {
    count(event) {
      firstEventMs ??= clock.monotonicMs() - startedMs
      if (event.type === 'start') {
        current = event.usage
        // Further answers to the same request find its prompt in the cache, which says nothing about the request.
        cache ??= event.cache ?? null
      }
      if (event.type === 'delta') current = { ...current, output: current.output + event.tokens }
      if (event.type !== 'finish') return
      finished = addAnswer(finished, event.usage)
      current = zeroUsage
    },
    correct(final) {
      if (final.output >= current.output && inputTokens(final) > 0) current = final
    },
    async close(outcome, reason) {
      if (isClosed) return
      isClosed = true
      release()
      const { requestId, principal, request } = asked
      const durationMs = clock.monotonicMs() - startedMs
      const entry = {
        requestId,
        principal,
        atMs: clock.nowMs(),
        model: request.model,
        outcome,
        reason,
        usage: addAnswer(finished, current),
        cache,
        firstEventMs,
        durationMs,
      }
      try {
        await ledger.append(entry)
      } catch (error) {
        // Nothing is served unrecorded: a full disk stops the service and not the bookkeeping.
        throw new ApiError(
          { code: 'overloaded', retryAfterMs: 5_000 },
          'The request could not be recorded. Please try again.',
          { cause: error },
        )
      }
    },
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
