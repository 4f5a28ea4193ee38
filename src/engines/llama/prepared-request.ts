import { PromptLongerThanExpected, type Prepared, type RunTerms } from '../../core/engine.ts'
import { ApiError, type ErrorPath } from '../../core/error.ts'
import { GenerationAborted, zeroUsage, type EngineRequest, type GenerationEvent } from '../../core/generation.ts'
import { PushedStream } from '../../lib/pushed-stream.ts'
import {
  eventsInFlightMax,
  type FromChild,
  type OptimisticTerms,
  type OutputTerms,
  type TaskId,
  type ToChild,
} from './ipc.ts'

/** Messages of the child about one request, its events aside. */
export type TaskNews = Extract<FromChild, { readonly kind: 'prepared' | 'nearly-used' | 'aborted' | 'failed' }>

/** The child that works on a request, which may be another one after a crash. */
export type Workplace = {
  send(message: ToChild): void
  /** The request is over. */
  leave(request: PreparedRequest): void
}

/** The child may run ahead by `eventsInFlightMax`, so it must hear of what was taken well before that. */
const reportSize = eventsInFlightMax / 4

/** A request that ended two children before it was begun may be the reason. */
const crashesMax = 2

/** The service's side of one request, from its prompt to its last event. */
export class PreparedRequest implements Prepared {
  readonly request: EngineRequest
  readonly tokensMax: number | null
  /** The id of the present attempt; a child that is started anew is sent another. */
  id: TaskId = 0
  readonly #workplace: Workplace
  readonly #signal: AbortSignal
  readonly #leaving = new AbortController()
  readonly #counted = Promise.withResolvers<number>()
  #inputTokens: number | null = null
  #unenforced: readonly ErrorPath[] = []
  #terms: RunTerms | null = null
  #stream: PushedStream<GenerationEvent> | null = null
  #failure: Error | null = null
  #crashes = 0
  #untold = 0
  /** Whether the child of the present attempt has prepared it and waits for a word. */
  #awaitsBegin = false
  /** Whether it was sent with the terms on which the child may begin without another word. */
  #hasOptimisticTerms = false
  #hasStarted = false
  #isOver = false

  constructor(workplace: Workplace, request: EngineRequest, signal: AbortSignal, tokensMax: number | null) {
    this.#workplace = workplace
    this.request = request
    this.#signal = signal
    this.tokensMax = tokensMax
    // A caller that runs it without asking for its length hears of the failure from the stream.
    this.#counted.promise.catch(() => {})
    signal.addEventListener('abort', this.#abort, { once: true })
    if (signal.aborted) this.#abort()
  }

  get tokens(): Promise<number> {
    return this.#counted.promise
  }

  get unenforced(): readonly ErrorPath[] {
    return this.#unenforced
  }

  /** Fires when the request is aborted or cancelled, wherever it is worked on. */
  get leaving(): AbortSignal {
    return this.#leaving.signal
  }

  /** A slot has taken it: after that a crash cannot be hidden from the client. */
  get hasStarted(): boolean {
    return this.#hasStarted
  }

  get isOver(): boolean {
    return this.#isOver
  }

  run(terms: RunTerms): AsyncIterableIterator<GenerationEvent> {
    const stream = new PushedStream<GenerationEvent>({
      onTaken: this.#reportTaken,
      onLeft: () => this.cancel(),
    })
    this.#terms = terms
    this.#stream = stream
    if (this.#isOver) stream.end(this.#failure ?? new GenerationAborted(zeroUsage))
    else if (this.#awaitsBegin) this.#begin(terms)
    return stream
  }

  allow(outputTokens: number, isLast: boolean): void {
    if (!this.#isOver) this.#workplace.send({ kind: 'allow', id: this.id, outputTokens, isLast })
  }

  cancel(): void {
    if (this.#isOver) return
    this.#abort()
    this.end(new GenerationAborted(zeroUsage))
  }

  /**
   * Begins an attempt under a new id. Returns the optimistic terms on which the child may begin without another word,
   * if the prompt is no longer than they say; null where it is to wait.
   */
  attempt(id: TaskId): OptimisticTerms | null {
    this.id = id
    this.#awaitsBegin = false
    this.#hasOptimisticTerms = this.#terms !== null
    if (this.#terms === null) return null
    const { inputTokensMax = Infinity } = this.#terms
    return { ...outputTerms(this.#terms), inputTokensMax: this.#inputTokens === null ? inputTokensMax : Infinity }
  }

  tell(news: TaskNews): void {
    if (news.kind === 'prepared') this.#takePrepared(news)
    else if (news.kind === 'nearly-used') this.#terms?.onNearlyUsed?.()
    else if (news.kind === 'aborted') this.end(new GenerationAborted(news.usage))
    else this.end(new ApiError(news.reason, news.message))
  }

  #takePrepared({ inputTokens, unenforced }: Extract<TaskNews, { readonly kind: 'prepared' }>): void {
    this.#unenforced = unenforced
    this.count(inputTokens)
  }

  /** Notes the tokens of its prompt. A second attempt hears the same again. */
  count(inputTokens: number): void {
    this.#inputTokens = inputTokens
    this.#awaitsBegin = true
    this.#counted.resolve(inputTokens)
    const terms = this.#terms
    if (terms === null) return
    if (inputTokens > (terms.inputTokensMax ?? Infinity)) this.#wait()
    else if (this.#hasOptimisticTerms) this.#awaitsBegin = false
    else this.#begin(terms)
  }

  take(event: GenerationEvent): void {
    this.#hasStarted = true
    this.#terms?.onEvent?.(event)
    // Events that were under way when the abort was sent change the counts alone.
    const isLeft = this.#leaving.signal.aborted
    if (!isLeft) this.#stream?.push(event)
    if (event.type === 'finish') this.end(isLeft ? new GenerationAborted(event.usage) : null)
  }

  /** Its child has crashed. Returns whether it may be sent to the next one, as good as new. */
  survivesCrash(): boolean {
    // What is prepared and waits for its turn was not being worked on.
    const isWaiting = this.#awaitsBegin && this.#terms === null
    if (!isWaiting) this.#crashes += 1
    if (this.leaving.aborted) this.end(new GenerationAborted(zeroUsage))
    else if (this.#hasStarted || this.#crashes >= crashesMax) this.end(engineFailed())
    return !this.#isOver
  }

  /** It is over: finished, or failed with what its stream throws. A second call changes nothing. */
  end(failure: Error | null): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#failure = failure
    this.#signal.removeEventListener('abort', this.#abort)
    if (failure !== null) this.#counted.reject(failure)
    if (failure instanceof GenerationAborted) this.#stream?.clear()
    this.#stream?.end(failure)
    this.#workplace.leave(this)
  }

  /**
   * Has the child abort it, which confirms that with the final counts.
   *
   * A child that does not confirm is busy with a step or hangs; which of the two, the supervisor
   * finds out. Killing it here would take the answers of all others with it.
   */
  readonly #abort = (): void => {
    this.#leaving.abort()
    this.#stream?.clear()
    if (this.id !== 0) this.#workplace.send({ kind: 'abort', id: this.id })
  }

  #begin(terms: RunTerms): void {
    this.#awaitsBegin = false
    this.#workplace.send({ kind: 'begin', id: this.id, ...outputTerms(terms) })
  }

  /** It is longer than its terms allow, so the child waits for others. */
  #wait(): void {
    const stream = this.#stream
    this.#terms = null
    this.#stream = null
    stream?.end(new PromptLongerThanExpected())
  }

  readonly #reportTaken = (): void => {
    this.#untold += 1
    if (this.#untold < reportSize) return
    this.#workplace.send({ kind: 'taken', id: this.id, events: this.#untold })
    this.#untold = 0
  }
}

function outputTerms({ outputTokensMax, firstOutputTokens }: RunTerms): OutputTerms {
  return { outputTokensMax, firstOutputTokens: firstOutputTokens ?? null }
}

function engineFailed(): ApiError {
  return new ApiError({ code: 'engine-failed' }, 'The model stopped unexpectedly. Please try again.')
}
