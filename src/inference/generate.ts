import type { Ledger } from '../billing/ledger/ledger.ts'
import type { PriceBook } from '../billing/prices/price-book.ts'
import type { Refusals } from '../billing/refusals/refusals.ts'
import { toApiError, type ErrorPath } from '../core/error.ts'
import { GenerationAborted, zeroUsage, type EngineRequest, type GenerationEvent } from '../core/generation.ts'
import { refusalClassOf } from '../core/refusal.ts'
import { endCauseOf, type EndCause } from '../core/request-ended.ts'
import type { Clock } from '../lib/clock.ts'
import type { Limiter } from '../limits/limiter.ts'
import type { Admission } from '../limits/open-admission.ts'
import type { Catalog, CatalogEntry } from '../models/catalog.ts'
import { Answer } from './answer.ts'
import type { Asked } from './asked.ts'
import type { OverLimit } from './output-growth.ts'
import { resolveRequest } from './resolve-request.ts'
import { createSettlement, type AdmittedAt, type Settlement, type SettlementParts } from './settlement.ts'
import { createWorstCase } from './worst-case.ts'

export type InferenceParts = {
  readonly catalog: Catalog
  readonly ledger: Ledger
  readonly refusals: Refusals
  readonly prices: PriceBook
  readonly limiter: Limiter
  readonly clock: Clock
  readonly signs?: SettlementParts['signs']
  /** Absent, answers over a limit pause. */
  readonly outputOverLimit?: OverLimit
}

/**
 * Runs one generation: find the model, let the request in, then for each answer prepare, reserve, slot and run
 * (`answer.ts`), and while they run meter, and settle at the end (`settlement.ts`).
 *
 * Resolves once the first event has arrived, so a caller that awaits it can still answer with an HTTP status; later
 * failures throw from the events. Whatever ends the stream, what the engine did is written to the ledger exactly once,
 * and before `finish` is handed on. A request that is turned away before the engine has begun is counted, and has no row.
 */
export async function generate(parts: InferenceParts, asked: Asked, signal: AbortSignal): Promise<Generation> {
  const { entry, request, admission, admitted } = await letIn(parts, asked).catch((error: unknown) => {
    parts.refusals.count(asked.principal.organizationId, error, asked.request.model)
    throw error
  })
  const settlement = createSettlement(parts, asked, admitted, admission)
  const { choiceCount, outputTokensMax } = asked.request
  const isOutputChosen = outputTokensMax !== null
  const worstCase = createWorstCase(admission, { request, choiceCount, isOutputChosen, price: admitted.price })
  const { clock, outputOverLimit: overLimit = 'pause' } = parts
  const begin = (index: number, stop: AbortSignal) => {
    const meter = settlement.meter.of(index)
    return new Answer({ lane: entry, worstCase, meter, clock, overLimit, signal: stop }, withSeedOf(request, index))
  }
  const stream = new AnswerStream({ choiceCount, begin, settlement, signal })
  await stream.begun()
  return stream
}

/** The events of all answers to a request. */
export type Generation = AsyncGenerator<GenerationEvent> & {
  /** Where in the request's schemas keywords stand that the answers are not held to. */
  readonly unenforced: readonly ErrorPath[]
}

async function letIn(parts: InferenceParts, asked: Asked) {
  parts.ledger.requireWritable()
  const entry = parts.catalog.find(asked.request.model)
  const request = toEngineRequest(asked, entry)
  const admission = await parts.limiter.admit(
    { principal: asked.principal, model: entry.model.id, requestId: asked.requestId },
    asked.entrance,
  )
  return { entry, request, admission, admitted: findPrice(parts, asked, admission) }
}

/** The price at this moment. A request that is refused for its lack gives back what it was admitted with. */
function findPrice({ prices, clock }: InferenceParts, { principal, request }: Asked, admission: Admission): AdmittedAt {
  const atMs = clock.nowMs()
  try {
    return { atMs, price: prices.find(principal.organizationId, request.model, atMs) }
  } catch (error) {
    admission.settle({ usage: zeroUsage, costPicos: 0n, atMs })
    throw error
  }
}

/** What an engine is given of a request. */
export function toEngineRequest(
  { request, requestId, principal, traceparent }: Asked,
  entry: CatalogEntry,
): EngineRequest {
  const traced = traceparent === undefined ? {} : { traceparent }
  return { ...resolveRequest(request, entry), owner: principal, requestId, ...traced }
}

/** Gives each answer to a request a seed of its own: with one seed for all, all answers would be one. */
export function withSeedOf(request: EngineRequest, index: number): EngineRequest {
  const { seed } = request.sampling
  if (seed === null || index === 0) return request
  return { ...request, sampling: { ...request.sampling, seed: (seed + index) % 2 ** 32 } }
}

type Read = IteratorResult<GenerationEvent>

export type AnswerStreamParts = {
  readonly choiceCount: number
  /** Sets one of the answers going, until the signal fires. */
  begin(index: number, signal: AbortSignal): Answer
  readonly settlement: Settlement
  /** What the caller stops the request with. */
  readonly signal: AbortSignal
}

/**
 * Hands on the answers to one request, one stream after the other, and ends their account.
 *
 * The engine works on all of them at the same time; each is read when the one before it has ended. Whatever ends the
 * stream, the engine is told to stop what is under way and its last word on the counts is waited for: tokens may have
 * been made that nobody has read. It is written by hand because a generator takes several promises for every event.
 */
export class AnswerStream implements Generation {
  readonly #settlement: Settlement
  readonly #signal: AbortSignal
  /** Stops the answers, when the caller stops or before; a composite of signals would be looked through with every event. */
  readonly #stop = new AbortController()
  readonly #answers: readonly Answer[]
  #finished = 0
  #isOver = false

  constructor({ choiceCount, begin, settlement, signal }: AnswerStreamParts) {
    this.#settlement = settlement
    this.#signal = signal
    signal.addEventListener('abort', this.#abort, { once: true })
    if (signal.aborted) this.#abort()
    this.#answers = Array.from({ length: choiceCount }, (_, index) => begin(index, this.#stop.signal))
  }

  /** Resolves when the first event has arrived; what fails before that ends the account and is thrown. */
  async begun(): Promise<void> {
    await this.#answers[0]?.begun.catch(this.#fail)
  }

  get unenforced(): readonly ErrorPath[] {
    return this.#answers[0]?.unenforced ?? []
  }

  next(): Promise<Read> {
    const answer = this.#answers[this.#finished]
    if (this.#isOver || answer === undefined) return Promise.resolve({ done: true, value: undefined })
    return answer.next().then(this.#pass, this.#fail)
  }

  async return(value: unknown): Promise<Read> {
    if (!this.#isOver) {
      await this.#stopAll()
      const { outcome, reason } = this.#ended()
      await this.#settlement.close(outcome, reason)
    }
    return { done: true, value }
  }

  /** The reader failed: that is a fault of the service, unless the request was to end anyway. */
  throw(error: unknown): Promise<Read> {
    return this.#isOver ? Promise.reject(error as Error) : this.#fail(error)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return(undefined)
  }

  readonly #abort = () => this.#stop.abort()

  readonly #pass = (read: Read): Read | Promise<Read> => {
    if (read.done === true) return this.#fail(new Error('The engine ended its stream without a finish event.'))
    if (read.value.type !== 'finish') return read
    this.#finished += 1
    return this.#finished === this.#answers.length ? this.#finish(read, read.value.reason.kind) : read
  }

  /** The row is written before the last event goes on. */
  async #finish(read: Read, reason: string): Promise<Read> {
    this.#isOver = true
    this.#signal.removeEventListener('abort', this.#abort)
    await this.#settlement.close('finished', reason)
    return read
  }

  readonly #fail = async (error: unknown): Promise<never> => {
    this.#answers[this.#finished]?.record(error)
    await this.#stopAll()
    const isAborted = this.#signal.aborted || error instanceof GenerationAborted
    if (!isAborted && !this.#settlement.meter.hasBegun && refusalClassOf(error) !== null) {
      this.#settlement.refuse(error)
      throw error
    }
    const { outcome, reason } = isAborted
      ? this.#ended()
      : { outcome: 'failed' as const, reason: toApiError(error).code }
    await this.#settlement.close(outcome, reason)
    throw error
  }

  /** What is cut off because the service stops is a failure of the service, and free. */
  #ended(): { readonly outcome: 'aborted' | 'failed'; readonly reason: EndCause } {
    const reason = endCauseOf(this.#signal)
    return { outcome: reason === 'service-stopping' ? 'failed' : 'aborted', reason }
  }

  async #stopAll(): Promise<void> {
    this.#isOver = true
    this.#signal.removeEventListener('abort', this.#abort)
    this.#stop.abort()
    await Promise.all(this.#answers.map((answer) => answer.end()))
  }
}
