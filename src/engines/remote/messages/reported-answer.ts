import type { CountSource, RunTerms } from '../../../core/engine.ts'
import { contextExceeded } from '../../../core/error.ts'
import type { EngineRequest, FinishReason, Usage } from '../../../core/generation.ts'
import { malformed, ReplicaFault } from '../dialect.ts'
import { isolationOf } from '../isolation.ts'
import { engineFailed, PooledAnswer } from '../pooled-answer.ts'
import { LeastTokens } from './counted-output.ts'
import { JoinedCalls } from './joined-calls.ts'
import type { MessageFacts, MessageRequest, MessageStep, ReportedUsage } from './message-dialect.ts'
import type { AskedServer, MessagePlace } from './message-place.ts'
import { estimateLeast, estimateMost } from './prompt-estimate.ts'
import { ReportedPlan, type Call, type Form, type Judgement } from './reported-plan.ts'
import { ReportedWriter } from './reported-writer.ts'
import { readWindowFault, type WindowFault } from './window-fault.ts'

/** A whole answer that nobody has seen yet, but for what may be shown as it comes. */
type Whole = {
  readonly form: Form
  readonly text: string
  readonly calls: readonly Call[]
  /** Why it ended; null where it has all that it may have. */
  readonly end: Extract<MessageStep, { kind: 'end' }> | null
  readonly stopSequence: string | null
}

/** An answer of a server that takes messages: what it counts is taken from it, what it says is looked at first. */
export class ReportedAnswer extends PooledAnswer {
  readonly tokens: Promise<number>
  readonly #place: MessagePlace
  readonly #plan: Promise<ReportedPlan | null>
  readonly #writer: ReportedWriter
  #isWorking = false
  #hasStarted = false
  #reported: ReportedUsage | null = null
  #outputTokensMax = 0
  /** What is left of the window for the answer, once a server has said so. */
  #room = Infinity

  constructor(place: MessagePlace, request: EngineRequest, signal: AbortSignal) {
    super(place, request, signal, null)
    this.#place = place
    const isOnlyCounted = request.windowTokensMax === Infinity
    // In a promise, so that what the request is refused with comes as any other refusal.
    this.#plan = Promise.resolve().then(() => (isOnlyCounted ? null : new ReportedPlan(request)))
    this.tokens = this.#plan.then((plan) => {
      this.unenforced = plan?.unenforced ?? []
      return estimateMost(request)
    })
    this.tokens.catch((error: unknown) => this.failUnlessRun(error))
    this.#writer = new ReportedWriter(request, (event) => this.emit(event))
  }

  /** Whose counts they are: the server's, or bounds where it has not told any. */
  get countSource(): CountSource {
    return this.#reported === null ? 'estimated' : 'reported'
  }

  protected override get hasStarted(): boolean {
    return this.#hasStarted
  }

  protected override get outputTokens(): number {
    return this.#writer.pieces
  }

  protected override get isWorking(): boolean {
    return this.#isWorking
  }

  protected override limit(outputTokens: number): void {
    this.#outputTokensMax = Math.min(this.#outputTokensMax, outputTokens)
  }

  protected override usage(): Usage {
    const { shown, thinkingPieces } = this.#writer
    const { promptTokens, cachedTokens, outputTokens, thinkingTokens } = this.#reported ?? {
      promptTokens: estimateLeast(this.request),
      cachedTokens: 0,
      outputTokens: 0,
      thinkingTokens: 0,
    }
    // What a server sent beyond what it may is not its client's to pay.
    const output =
      this.request.outputTokensMax === 0 ? 0 : Math.min(Math.max(outputTokens, shown), this.#outputTokensMax)
    return {
      inputUncached: promptTokens - cachedTokens,
      inputCacheRead: cachedTokens,
      inputCacheWrite: 0,
      inputCacheWriteLong: 0,
      output,
      outputThinking: Math.min(output, Math.max(thinkingTokens, thinkingPieces)),
    }
  }

  protected override async work(terms: RunTerms): Promise<void> {
    const plan = await this.#plan
    if (plan === null) throw new Error('A prompt that is only counted is not run.')
    const { windowTokens } = await this.#place.ready(this.leaving.signal)
    this.#isWorking = true
    this.#outputTokensMax = Math.min(this.request.outputTokensMax, terms.outputTokensMax)
    this.#room = this.#roomIn(Math.min(windowTokens, this.request.windowTokensMax))
    if (terms.firstOutputTokens !== undefined) this.allow(terms.firstOutputTokens, false)
    this.limit(this.outputTokensAllowed ?? Infinity)
    const first = await this.#ask((facts) => plan.first(facts), { isShown: true, holdsText: plan.holdsText })
    await this.#handOn(plan, first)
    this.end(null)
  }

  /** A prompt that seems too long is the server's to count and to refuse; then there is room for a short answer at the least. */
  #roomIn(windowTokens: number): number {
    const left = windowTokens - estimateMost(this.request)
    return Math.max(left, Math.ceil(windowTokens / 8))
  }

  /** Hands a whole answer on if it is good, and else what comes of one more try. */
  async #handOn(plan: ReportedPlan, first: Whole): Promise<void> {
    if (this.#isCut(first)) return this.#write(plan, first, [])
    const judgement = plan.judge(first.text, callsOf(plan, first))
    if (judgement.kind === 'good') return this.#write(plan, first, callsOf(plan, first))
    const second = await this.#ask(() => plan.constrained(judgement), { isShown: false, holdsText: true })
    if (this.#isCut(second)) return this.#write(plan, second, [])
    const calls = mended(callsOf(plan, first), callsOf(plan, second), judgement)
    const last = plan.judge(second.text, calls)
    if (last.kind !== 'good') throw engineFailed(new Error(`The answer cannot be handed on: ${last.why}.`))
    this.#write(plan, second, calls)
  }

  /** Whether it ended before it was whole, or was to have nothing: then there is nothing to look at. */
  #isCut({ end, stopSequence }: Whole): boolean {
    const isWhole = end !== null && stopSequence === null && end.reason !== 'length' && end.reason !== 'refusal'
    return !isWhole || this.request.outputTokensMax === 0
  }

  #write(plan: ReportedPlan, whole: Whole, calls: readonly Call[]): void {
    if (whole.end?.reason === 'calls' && whole.calls.length === 0)
      throw malformed('It ended its answer for calls, of which there are none.')
    if (whole.form.writesCall === null) this.#writer.show(whole.text)
    for (const call of calls) this.#writer.call(call.name, plan.argumentsFor(call))
    const reason = this.#reasonOf(whole, calls.length)
    this.#start()
    this.#writer.finish(reason, this.usage())
  }

  #reasonOf({ end, stopSequence }: Whole, calls: number): FinishReason {
    if (this.request.outputTokensMax === 0) return { kind: 'length' }
    if (stopSequence !== null) return { kind: 'stop-sequence', sequence: stopSequence }
    if (end?.reason === 'refusal') return { kind: 'refusal' }
    if (end !== null && end.reason !== 'length') return { kind: calls > 0 ? 'tool-calls' : 'end' }
    const isAll = this.usage().output >= this.#outputTokensMax
    return { kind: isAll ? 'length' : 'window' }
  }

  #start(): void {
    if (this.#hasStarted) return
    this.#hasStarted = true
    this.#writer.start(this.usage())
  }

  /** Asks servers, one after the other, until one has given a whole answer. */
  async #ask(formFor: (facts: MessageFacts) => Form, terms: ReadTerms): Promise<Whole> {
    const { signal } = this.leaving
    const tries: Tries = { excluded: new Set(), retries: 0, isFitted: false }
    for (;;) {
      const asked: AskedServer = { request: this.request, excluded: tries.excluded, retries: tries.retries }
      const running = await this.#place.begin(asked, signal)
      this.placed(running)
      const before = this.#writer.pieces
      try {
        const form = formFor(running.facts)
        const whole = await this.#read(running.ask(this.#toRequest(form)), form, terms)
        running.end(this.#writer.pieces - before, null)
        return whole
      } catch (error) {
        const fault = error instanceof ReplicaFault && !signal.aborted ? error : null
        const tooLong = fault === null ? null : readWindowFault(fault)
        running.end(this.#writer.pieces - before, tooLong === null ? fault : null)
        signal.throwIfAborted()
        if (tooLong === null) tries.excluded.add(running.replicaId)
        const mayGoOn = tooLong === null ? this.#goesElsewhere(fault, terms) : this.#fits(tooLong, tries)
        if (!mayGoOn || !this.#place.takeRetry(asked)) throw error
        tries.retries += 1
      }
    }
  }

  /** What a server refuses of a request, others refuse too; and nothing is said twice. */
  #goesElsewhere(fault: ReplicaFault | null, { isShown }: ReadTerms): boolean {
    return fault !== null && fault.kind !== 'rejected' && !(isShown && this.#writer.hasWritten)
  }

  /** Whether the prompt fits and only the answer that was asked for with it does not; then less is asked for. */
  #fits(tooLong: WindowFault, tries: Tries): boolean {
    const { inputTokens, windowTokens } = this.#withEstimates(tooLong)
    if (tries.isFitted || inputTokens >= windowTokens) throw contextExceeded(inputTokens, windowTokens)
    tries.isFitted = true
    this.#room = windowTokens - inputTokens
    return true
  }

  #withEstimates(fault: WindowFault) {
    const windowTokens = fault.windowTokens ?? this.request.windowTokensMax
    return { windowTokens, inputTokens: fault.inputTokens ?? Math.max(windowTokens, estimateLeast(this.request)) }
  }

  /** What a server is asked for at the most: some take no limit of zero. */
  get #askedTokensMax(): number {
    return Math.max(1, Math.min(this.#outputTokensMax, this.#room))
  }

  #toRequest(form: Form): MessageRequest {
    const { request } = this
    const { messages, tools, toolChoice, parallelCalls, format } = form
    return {
      messages,
      tools,
      toolChoice,
      parallelCalls,
      format,
      thinks: request.thinking.kind === 'on',
      sampling: request.sampling,
      outputTokensMax: this.#askedTokensMax,
      isolation: isolationOf(request.owner.organizationId),
      traceparent: request.traceparent ?? null,
    }
  }

  /** Reads an answer to its end. What may be shown as it comes is; the rest is kept. */
  async #read(steps: AsyncGenerator<readonly MessageStep[]>, form: Form, terms: ReadTerms): Promise<Whole> {
    const reading: Reading = {
      calls: new JoinedCalls(),
      least: new LeastTokens(),
      end: null,
      stopSequence: null,
      isFull: false,
    }
    this.#writer.begin(terms)
    try {
      for (let read = await steps.next(); read.done !== true; read = await steps.next()) {
        for (const step of read.value) await this.#take(step, reading, terms)
        if (reading.stopSequence !== null || reading.isFull) break
        await this.untilRead()
      }
    } finally {
      void steps.return(undefined).catch(() => {})
    }
    const { calls, end, stopSequence, isFull } = reading
    if (end === null && stopSequence === null && !isFull) throw malformed('Its answer ended without an end.')
    return { form, text: this.#writer.held(), calls: calls.all, end, stopSequence }
  }

  async #take(step: MessageStep, reading: Reading, { isShown }: ReadTerms): Promise<void> {
    // What comes behind the end that was set here is nobody's.
    if (reading.stopSequence !== null || reading.isFull) return
    if (step.kind === 'end') {
      this.#reported = step.usage
      reading.end = step
      return
    }
    if (this.isUsedUp) await this.untilAllowed()
    reading.least.take(step)
    const hasAll = this.outputTokensAllowed !== null && this.outputTokens >= this.#outputTokensMax
    // Not every server keeps to the limit that it is given.
    reading.isFull = hasAll || reading.least.count > this.#askedTokensMax
    if (reading.isFull) return
    if (isShown) this.#start()
    if (step.kind === 'call') reading.calls.take(step)
    reading.stopSequence = this.#writer.take(step)
    this.counted()
  }
}

/** How far an answer is read. */
type Reading = {
  readonly calls: JoinedCalls
  readonly least: LeastTokens
  end: Whole['end']
  stopSequence: string | null
  /** It has all that its client may have. */
  isFull: boolean
}

/** The servers that have failed a request, and whether it was made to fit a window. */
type Tries = { readonly excluded: Set<string>; retries: number; isFitted: boolean }

type ReadTerms = {
  /** Thinking and free text are handed on as they come. */
  readonly isShown: boolean
  /** But not the text. */
  readonly holdsText: boolean
}

/** The calls of an answer, of which JSON may stand for one. */
function callsOf(plan: ReportedPlan, { form, text, calls }: Whole): readonly Call[] {
  if (form.writesCall === null) return calls
  const written = plan.callOf(form, text)
  return written === null ? [] : [written]
}

/** The calls of a first try with what a second one has in place of the bad one. */
function mended(first: readonly Call[], second: readonly Call[], judgement: Judgement): readonly Call[] {
  const [fresh] = second
  if (judgement.kind !== 'bad-call' || fresh === undefined || first.length === 0) return second
  return first.map((call, number) => (number === judgement.number ? fresh : call))
}
