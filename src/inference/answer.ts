import { PromptLongerThanExpected, type Prepared, type RunTerms } from '../core/engine.ts'
import type { ErrorPath } from '../core/error.ts'
import { GenerationAborted, zeroUsage, type EngineRequest, type GenerationEvent } from '../core/generation.ts'
import type { Clock } from '../lib/clock.ts'
import type { Lane } from '../models/catalog.ts'
import type { Ticket } from '../scheduling/ticket.ts'
import { OutputGrowth, type OverLimit } from './output-growth.ts'
import type { AnswerMeter } from './settlement.ts'
import type { WorstCase } from './worst-case.ts'

export type AnswerParts = {
  readonly lane: Lane
  readonly worstCase: WorstCase
  readonly meter: AnswerMeter
  readonly clock: Clock
  readonly overLimit: OverLimit
  /** Stops the answer, wherever it is. */
  readonly signal: AbortSignal
}

type Read = IteratorResult<GenerationEvent>

/**
 * One answer to a request: prepare, reserve, slot, run.
 *
 * It is on its way from the beginning, whoever reads it and when.
 */
export class Answer {
  readonly #parts: AnswerParts
  readonly #request: EngineRequest
  #ticket: Ticket | null = null
  #prepared: Prepared | null = null
  #events: AsyncIterator<GenerationEvent> | null = null
  #first: Promise<Read> | null
  /** Null where all it may need was reserved at once. */
  #growth: OutputGrowth | null = null

  constructor(parts: AnswerParts, request: EngineRequest) {
    this.#parts = parts
    this.#request = request
    this.#first = this.#begin()
    // It may fail long before anybody reads it.
    this.#first.catch(() => {})
  }

  /** Resolves when its first event has arrived. */
  get begun(): Promise<unknown> {
    return this.#first ?? Promise.resolve()
  }

  /** See `Prepared`; known when the first event has arrived. */
  get unenforced(): readonly ErrorPath[] {
    return this.#prepared?.unenforced ?? []
  }

  next(): Promise<Read> {
    const first = this.#first
    this.#first = null
    if (first !== null) return first
    return this.#events?.next() ?? Promise.resolve({ done: true, value: undefined })
  }

  /** Takes the last word on the counts from a failure that was read. */
  record(failure: unknown): void {
    if (!(failure instanceof GenerationAborted)) return
    this.#parts.meter.correct(failure.usage)
    if (this.#ticket !== null) this.#parts.lane.queue.charge(this.#ticket, failure.usage)
  }

  /** Waits until the engine has stopped, which it does within one decode step after the signal, and frees the slot. */
  async end(): Promise<void> {
    try {
      while ((await this.next()).done !== true) continue
    } catch (error) {
      this.record(error)
    }
    this.#growth?.end()
    this.#prepared?.cancel()
    if (this.#ticket !== null) this.#parts.lane.queue.leave(this.#ticket)
  }

  async #begin(): Promise<Read> {
    const { lane, signal } = this.#parts
    const { engine, queue } = lane
    const ticket = queue.enqueue(this.#request)
    this.#ticket = ticket
    const leave = () => queue.refuse(ticket, new GenerationAborted(zeroUsage))
    signal.addEventListener('abort', leave, { once: true })
    const prepared = engine.prepare(this.#request, signal)
    this.#prepared = prepared
    try {
      return (await this.#runOptimistically(ticket, prepared)) ?? (await this.#runInTurn(ticket, prepared))
    } catch (error) {
      prepared.cancel()
      throw error
    }
  }

  /** The order in which every answer is let in: its prompt is counted, its worst case reserved, its slot waited for. */
  async #runInTurn(ticket: Ticket, prepared: Prepared): Promise<Read> {
    const { lane, worstCase } = this.#parts
    const { queue } = lane
    const inputTokens = await queue.whileQueued(ticket, prepared.tokens)
    const outputTokensMax = await queue.whileQueued(ticket, worstCase.reserve(inputTokens))
    await queue.slot(ticket, inputTokens)
    return this.#run(ticket, prepared, { outputTokensMax })
  }

  /**
   * A short prompt need not wait until it is counted: where a slot is free and the most it can use as well, it begins
   * at once, and what was taken too much comes back. Null where it has to wait for its turn.
   */
  async #runOptimistically(ticket: Ticket, prepared: Prepared): Promise<Read | null> {
    const { lane, worstCase } = this.#parts
    const { tokensMax: inputTokensMax } = prepared
    if (inputTokensMax === null || !lane.queue.mayBegin(this.#request.owner)) return null
    const outputTokensMax = worstCase.reserveOptimistically(inputTokensMax)
    if (outputTokensMax === null) return null
    void lane.queue.slot(ticket, inputTokensMax)
    const first = this.#run(ticket, prepared, { outputTokensMax, inputTokensMax })
    const counted = (tokens: number) => {
      if (tokens > inputTokensMax) return
      lane.queue.charge(ticket, { ...zeroUsage, inputUncached: tokens })
      worstCase.counted(tokens)
    }
    prepared.tokens.then(counted, () => {})
    try {
      return await first
    } catch (error) {
      if (error instanceof PromptLongerThanExpected) return null
      throw error
    }
  }

  #run(ticket: Ticket, prepared: Prepared, terms: RunTerms): Promise<Read> {
    const { lane, meter } = this.#parts
    const growth = (this.#growth = this.#growthOf(prepared, terms))
    const onEvent = (event: GenerationEvent) => {
      const usage = meter.count(event)
      if (event.type === 'start' || event.type === 'finish') meter.servedBy(prepared)
      if (event.type === 'block-start' || event.type === 'block-end') return
      lane.queue.charge(ticket, usage)
      if (event.type !== 'finish') return
      growth?.end()
      lane.queue.finish(ticket, usage.output)
    }
    const onPlaced = () => {
      lane.queue.begun(ticket)
      meter.placed()
    }
    const grown = growth === null ? {} : { firstOutputTokens: growth.allowed, onNearlyUsed: () => growth.grow() }
    this.#events = prepared.run({ ...terms, ...grown, onPlaced, onEvent })
    return this.#events.next()
  }

  /** Null where all that the answer can have is reserved. */
  #growthOf(prepared: Prepared, { outputTokensMax }: RunTerms): OutputGrowth | null {
    const { worstCase, clock, overLimit } = this.#parts
    const { first, slice } = worstCase.outputSlices()
    if (first >= outputTokensMax) return null
    return new OutputGrowth(
      { clock, prepared, overLimit, slice, take: (tokens) => worstCase.growOutput(tokens) },
      first,
    )
  }
}
