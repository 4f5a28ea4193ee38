import { PromptLongerThanExpected, type Prepared, type RunTerms } from '../../core/engine.ts'
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
import type { PreparedText } from '../text/prepared-text.ts'
import { AnswerCourse, type Turn } from './answer-course.ts'
import { ReplicaFault, type TokenStep } from './dialect.ts'
import type { AskedLeg, RunningLeg, UnderWay, Workplace } from './workplace.ts'

/** How far a leg is read: what the answer has come to, and whether the engine's own last record was there. */
type Reading = { ending: Turn | null; isEnded: boolean }

/** Events that may be unread before no more are taken from the replica. */
const unreadMax = 256
const seeds = 2 ** 32

/** One request to a pool, from its prompt to its last event. */
export class RemoteAnswer implements Prepared, UnderWay {
  readonly request: EngineRequest
  readonly tokensMax: number | null
  readonly #workplace: Workplace
  readonly #signal: AbortSignal
  readonly #leaving = new AbortController()
  /** Null where it is only counted. */
  readonly #text: Promise<PreparedText> | null
  readonly tokens: Promise<number>
  #unenforced: readonly ErrorPath[] = []
  #terms: RunTerms | null = null
  #stream: PushedStream<GenerationEvent> | null = null
  #course: AnswerCourse | null = null
  #allowed = Infinity
  #asksAt = Infinity
  #isLastAllowed = false
  #hasRun = false
  /** The one that has it, or had it last. */
  #replica: string | null = null
  #isOver = false
  #failure: Error | null = null
  #unread = 0
  #changed: () => void = () => {}

  constructor(workplace: Workplace, request: EngineRequest, signal: AbortSignal, tokensMax: number | null) {
    this.#workplace = workplace
    this.request = request
    this.tokensMax = tokensMax
    this.#signal = signal
    signal.addEventListener('abort', this.#abort, { once: true })
    if (signal.aborted) this.#abort()
    const isOnlyCounted = request.windowTokensMax === Infinity
    this.#text = isOnlyCounted ? null : this.#prepare()
    this.tokens =
      this.#text?.then(({ prompt }) => prompt.tokens.length) ?? workplace.count(request, this.#leaving.signal)
    // A caller that runs it without asking for its length hears of the failure from the stream.
    this.tokens.catch((error: unknown) => {
      if (!this.#hasRun) this.#end(toError(error))
    })
  }

  get unenforced(): readonly ErrorPath[] {
    return this.#unenforced
  }

  get replica(): string | null {
    return this.#replica
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get isRunning(): boolean {
    return !this.#isOver && this.#course !== null
  }

  run(terms: RunTerms): AsyncIterableIterator<GenerationEvent> {
    const stream = new PushedStream<GenerationEvent>({
      onTaken: () => {
        this.#unread -= 1
        if (this.#unread < unreadMax) this.#changed()
      },
      onLeft: () => this.cancel(),
    })
    this.#hasRun = true
    this.#terms = terms
    this.#stream = stream
    if (this.#isOver) stream.end(this.#failure ?? new GenerationAborted(zeroUsage))
    else this.#work(terms, stream).catch((error: unknown) => this.#end(this.#toFailure(error)))
    return stream
  }

  allow(outputTokens: number, isLast: boolean): void {
    const before = Number.isFinite(this.#allowed) ? this.#allowed : 0
    this.#allowed = outputTokens
    this.#asksAt = outputTokens - Math.floor((outputTokens - before) / 2)
    this.#isLastAllowed = isLast
    if (isLast) this.#course?.limit(outputTokens)
    this.#changed()
  }

  cancel(): void {
    if (this.#isOver) return
    this.#abort()
    this.#end(new GenerationAborted(this.#usage()))
  }

  async #prepare(): Promise<PreparedText> {
    const { signal } = this.#leaving
    signal.throwIfAborted()
    const { windowTokens } = await this.#workplace.model(signal)
    const window = Math.min(windowTokens, this.request.windowTokensMax)
    const text = await this.#workplace.text(this.request, window, signal)
    this.#unenforced = text.plan.unenforced
    return text
  }

  async #work(terms: RunTerms, stream: PushedStream<GenerationEvent>): Promise<void> {
    if (this.#text === null) throw new Error('A prompt that is only counted is not run.')
    const text = await this.#text
    if (text.prompt.tokens.length > (terms.inputTokensMax ?? Infinity)) {
      this.#hasRun = false
      stream.end(new PromptLongerThanExpected())
      return
    }
    const { signal } = this.#leaving
    const { model, reader, windowTokens } = await this.#workplace.model(signal)
    const course = new AnswerCourse({
      request: this.request,
      text,
      model,
      reader,
      windowTokens: Math.min(windowTokens, this.request.windowTokensMax),
      outputTokensMax: terms.outputTokensMax,
      seed: Math.floor(this.#workplace.random() * seeds),
      emit: (event) => this.#emit(event),
    })
    this.#course = course
    if (terms.firstOutputTokens !== undefined) this.allow(terms.firstOutputTokens, false)
    if (this.#isLastAllowed) course.limit(this.#allowed)
    await this.#runLegs(course)
    this.#end(null)
  }

  async #runLegs(course: AnswerCourse): Promise<void> {
    const { signal } = this.#leaving
    const excluded = new Set<string>()
    let retries = 0
    for (;;) {
      const asked: AskedLeg = { leg: course.leg(), request: this.request, excluded, retries }
      const running = await this.#workplace.begin(asked, signal)
      this.#replica = running.replicaId
      const before = course.outputTokens
      try {
        const turn = await this.#readLeg(running, course)
        running.end(course.outputTokens - before, null)
        if (turn.kind !== 'ends') continue
        course.start()
        return course.finish(turn.reason)
      } catch (error) {
        const fault = error instanceof ReplicaFault && !signal.aborted ? error : null
        running.end(course.outputTokens - before, fault)
        signal.throwIfAborted()
        excluded.add(running.replicaId)
        if (fault === null || !this.#mayGoOn(fault, course) || !this.#workplace.takeRetry(asked)) throw error
        course.rewind()
        retries += 1
      }
    }
  }

  /** What a replica refuses, others refuse too; and where it has lied, what came of it is not to be gone on from. */
  #mayGoOn({ kind }: ReplicaFault, course: AnswerCourse): boolean {
    if (kind === 'rejected') return false
    if (!course.hasStarted) return true
    return kind !== 'lied' && this.#workplace.mayResume(this.request, course.isUnderGrammar)
  }

  /** Reads a leg until the answer needs another one or ends. */
  async #readLeg({ steps }: RunningLeg, course: AnswerCourse): Promise<Turn> {
    const reading: Reading = { ending: null, isEnded: false }
    try {
      for (;;) {
        const { done, value } = await steps.next()
        if (done === true) throw new ReplicaFault('malformed', 'Its answer ended without an end.')
        const turn = await this.#readSteps(value, course, reading)
        if (turn !== null) return turn
      }
    } finally {
      // What comes behind the end is waited for by nobody; read to its end, a connection serves another request.
      void (reading.isEnded ? drain(steps) : steps.return(undefined).catch(() => {}))
    }
  }

  /** Returns what ends the leg, null while it goes on. */
  async #readSteps(steps: readonly TokenStep[], course: AnswerCourse, reading: Reading): Promise<Turn | null> {
    for (const step of steps) {
      if (step.cachedTokens !== undefined) course.countCached(step.cachedTokens)
      // What comes behind the last token is read for the counts alone.
      const turn: Turn = reading.ending ?? (await this.#take(step, course))
      reading.isEnded = step.end !== undefined
      if (turn.kind === 'next-leg' || (turn.kind === 'ends' && !turn.isEnginesEnd)) return turn
      if (turn.kind === 'ends') reading.ending = turn
      if (reading.ending !== null && reading.isEnded) return reading.ending
    }
    return null
  }

  async #take(step: TokenStep, course: AnswerCourse): Promise<Turn> {
    if (step.ids.length > 0) course.start()
    for (const [index, id] of step.ids.entries()) {
      if (course.outputTokens >= this.#allowed) await this.#untilAllowed(course)
      const turn = course.take(id, step.logprobs?.[index] ?? null)
      if (course.outputTokens >= this.#asksAt) this.#ask()
      if (turn.kind !== 'goes-on') return turn
    }
    if (this.#unread >= unreadMax) await this.#untilRead()
    return step.end === undefined ? { kind: 'goes-on' } : course.legEnded(step.end)
  }

  #ask(): void {
    this.#asksAt = Infinity
    this.#terms?.onNearlyUsed?.()
  }

  /** Waits, with the tokens of the replica unread, until the answer may have more, or never will. */
  async #untilAllowed(course: AnswerCourse): Promise<void> {
    while (course.outputTokens >= this.#allowed && !this.#isLastAllowed) await this.#change()
  }

  async #untilRead(): Promise<void> {
    while (this.#unread >= unreadMax) await this.#change()
  }

  async #change(): Promise<void> {
    const { signal } = this.#leaving
    await new Promise<void>((resolve) => {
      this.#changed = resolve
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    signal.throwIfAborted()
  }

  #emit(event: GenerationEvent): void {
    this.#terms?.onEvent?.(event)
    if (this.#leaving.signal.aborted) return
    this.#unread += 1
    this.#stream?.push(event)
  }

  #usage(): Usage {
    return (this.#replica === null ? null : this.#course?.usage()) ?? zeroUsage
  }

  #toFailure(error: unknown): Error {
    if (this.#leaving.signal.aborted) return new GenerationAborted(this.#usage())
    if (!(error instanceof ReplicaFault)) return toError(error)
    const hasBegun = this.#course?.hasStarted === true
    if (!hasBegun && (error.kind === 'overloaded' || error.kind === 'refused')) return this.#workplace.unavailable()
    if (error.kind === 'rejected')
      return new ApiError({ code: 'internal' }, 'The server had an internal error.', { cause: error })
    return new ApiError({ code: 'engine-failed' }, 'The model stopped unexpectedly. Please try again.', {
      cause: error,
    })
  }

  #end(failure: Error | null): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#failure = failure
    this.#signal.removeEventListener('abort', this.#abort)
    if (failure instanceof GenerationAborted) this.#stream?.clear()
    this.#stream?.end(failure)
    // Whatever is still under way for it ends with it.
    if (failure !== null) this.#leaving.abort(failure)
    this.#workplace.leave(this)
  }

  readonly #abort = (): void => {
    this.#leaving.abort(new GenerationAborted(zeroUsage))
    this.#stream?.clear()
    this.#changed()
    this.#end(new GenerationAborted(this.#usage()))
  }
}

async function drain(steps: AsyncGenerator<unknown>): Promise<void> {
  try {
    while ((await steps.next()).done !== true) continue
  } catch {
    // The answer was whole before.
  }
}
