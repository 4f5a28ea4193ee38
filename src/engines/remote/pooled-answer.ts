import type { Prepared, RoutingReason, RunTerms } from '../../core/engine.ts'
import { ApiError, type ErrorPath } from '../../core/error.ts'
import {
  GenerationAborted,
  zeroUsage,
  type EngineRequest,
  type GenerationEvent,
  type Usage,
} from '../../core/generation.ts'
import { toError } from '../../lib/message-of.ts'
import { PushedStream } from '../../lib/pushed-stream.ts'
import { ReplicaFault } from './dialect.ts'
import type { UnderWay } from './workplace.ts'

/** Events that may be unread before no more are taken from the replica. */
const unreadMax = 256

/** Where an answer is made, as far as every kind of answer has to know it. */
export type AnswerPlace = {
  /** What a request is told that no replica can take. */
  unavailable(): ApiError
  /** The request is over. */
  leave(answer: UnderWay): void
}

/**
 * One request to a pool, from its prompt to its last event, whatever its replicas speak: what it may have, who reads it and
 * how it ends.
 */
export abstract class PooledAnswer implements Prepared, UnderWay {
  readonly request: EngineRequest
  readonly tokensMax: number | null
  abstract readonly tokens: Promise<number>
  unenforced: readonly ErrorPath[] = []
  /** The one that has it, or had it last. */
  replica: string | null = null
  /** Why it came there. */
  routing: RoutingReason | null = null
  protected readonly leaving = new AbortController()
  readonly #place: AnswerPlace
  readonly #signal: AbortSignal
  #terms: RunTerms | null = null
  #stream: PushedStream<GenerationEvent> | null = null
  #allowed = Infinity
  #asksAt = Infinity
  #isLastAllowed = false
  #hasRun = false
  #isOver = false
  #failure: Error | null = null
  #changed: () => void = () => {}

  constructor(place: AnswerPlace, request: EngineRequest, signal: AbortSignal, tokensMax: number | null) {
    this.#place = place
    this.request = request
    this.tokensMax = tokensMax
    this.#signal = signal
    signal.addEventListener('abort', this.#abort, { once: true })
    if (signal.aborted) this.#abort()
  }

  /** Makes the answer, and resolves when it is whole. */
  protected abstract work(terms: RunTerms): Promise<void>
  /** Whether the client has had any of it. */
  protected abstract get hasStarted(): boolean
  protected abstract get outputTokens(): number
  protected abstract get isWorking(): boolean
  protected abstract usage(): Usage
  /** No more than this may come any more. */
  protected limit(_outputTokens: number): void {}

  get isOver(): boolean {
    return this.#isOver
  }

  get isRunning(): boolean {
    return !this.#isOver && this.isWorking
  }

  run(terms: RunTerms): AsyncIterableIterator<GenerationEvent> {
    const stream = new PushedStream<GenerationEvent>({
      onTaken: () => {
        if (!this.isBehind) this.#changed()
      },
      onLeft: () => this.cancel(),
    })
    this.#hasRun = true
    this.#terms = terms
    this.#stream = stream
    if (this.#isOver) stream.end(this.#failure ?? new GenerationAborted(zeroUsage))
    else this.work(terms).catch((error: unknown) => this.end(this.#toFailure(error)))
    return stream
  }

  allow(outputTokens: number, isLast: boolean): void {
    const before = Number.isFinite(this.#allowed) ? this.#allowed : 0
    this.#allowed = outputTokens
    this.#asksAt = outputTokens - Math.floor((outputTokens - before) / 2)
    this.#isLastAllowed = isLast
    if (isLast) this.limit(outputTokens)
    this.#changed()
  }

  cancel(): void {
    if (this.#isOver) return
    this.#abort()
    this.end(new GenerationAborted(this.usageSoFar()))
  }

  /** A replica has it. Of several legs at one replica the first says why. */
  protected placed({ replicaId, routing }: { readonly replicaId: string; readonly routing: RoutingReason }): void {
    if (this.replica !== replicaId) this.routing = routing
    this.replica = replicaId
    this.#terms?.onPlaced?.()
  }

  /** It is not to be made on these terms; it may be run once more on others. */
  protected giveBack(reason: Error): void {
    this.#hasRun = false
    this.#stream?.end(reason)
  }

  /** A caller that runs it without asking for its length hears of the failure from the stream. */
  protected failUnlessRun(error: unknown): void {
    if (!this.#hasRun) this.end(toError(error))
  }

  protected get outputTokensAllowed(): number | null {
    return this.#isLastAllowed ? this.#allowed : null
  }

  /** Asks for more where half of what was allowed last is used up. */
  protected counted(): void {
    if (this.outputTokens < this.#asksAt) return
    this.#asksAt = Infinity
    this.#terms?.onNearlyUsed?.()
  }

  /** Whether it has had all that is allowed as yet. */
  protected get isUsedUp(): boolean {
    return this.outputTokens >= this.#allowed && !this.#isLastAllowed
  }

  /** Waits, with the output of the replica unread, until the answer may have more, or never will. */
  protected async untilAllowed(): Promise<void> {
    while (this.isUsedUp) await this.#change()
  }

  /** Whether its reader has left so much unread that no more is to be taken. */
  protected get isBehind(): boolean {
    return this.#stream !== null && this.#stream.unread >= unreadMax
  }

  protected async untilRead(): Promise<void> {
    while (this.isBehind) await this.#change()
  }

  protected emit(event: GenerationEvent): void {
    this.#terms?.onEvent?.(event)
    if (this.leaving.signal.aborted) return
    this.#stream?.push(event)
  }

  protected end(failure: Error | null): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#failure = failure
    this.#signal.removeEventListener('abort', this.#abort)
    if (failure instanceof GenerationAborted) this.#stream?.clear()
    this.#stream?.end(failure)
    // Whatever is still under way for it ends with it.
    if (failure !== null) this.leaving.abort(failure)
    this.#place.leave(this)
  }

  protected usageSoFar(): Usage {
    return this.replica === null ? zeroUsage : this.usage()
  }

  async #change(): Promise<void> {
    const { signal } = this.leaving
    await new Promise<void>((resolve) => {
      this.#changed = resolve
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    signal.throwIfAborted()
  }

  #toFailure(error: unknown): Error {
    if (this.leaving.signal.aborted) return new GenerationAborted(this.usageSoFar())
    if (!(error instanceof ReplicaFault)) return toError(error)
    if (!this.hasStarted && isAbsence(error)) return this.#place.unavailable()
    if (error.kind === 'rejected')
      return new ApiError({ code: 'internal' }, 'The server had an internal error.', { cause: error })
    return engineFailed(error)
  }

  readonly #abort = (): void => {
    this.leaving.abort(new GenerationAborted(zeroUsage))
    this.#stream?.clear()
    this.#changed()
    this.end(new GenerationAborted(this.usageSoFar()))
  }
}

/** Whether there was no replica for it, rather than one that failed in answering. */
function isAbsence({ kind }: ReplicaFault): boolean {
  return kind === 'overloaded' || kind === 'refused' || kind === 'unconnected' || kind === 'denied'
}

export function engineFailed(cause: unknown): ApiError {
  return new ApiError({ code: 'engine-failed' }, 'The model stopped unexpectedly. Please try again.', { cause })
}
