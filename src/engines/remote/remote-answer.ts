import { PromptLongerThanExpected, type RunTerms } from '../../core/engine.ts'
import { zeroUsage, type EngineRequest, type Usage } from '../../core/generation.ts'
import type { PreparedText } from '../text/prepared-text.ts'
import { AnswerCourse, goesOn, type Turn } from './answer-course.ts'
import { ReplicaFault, type TokenStep } from './dialect.ts'
import { PooledAnswer } from './pooled-answer.ts'
import type { AskedLeg, RunningLeg, Workplace } from './workplace.ts'

/** How far a leg is read: what the answer has come to, and whether the engine's own last record was there. */
type Reading = { readonly isFirstLeg: boolean; ending: Turn | null; isEnded: boolean }

const seeds = 2 ** 32

/** An answer of a replica that takes tokens and gives tokens back. */
export class RemoteAnswer extends PooledAnswer {
  readonly tokens: Promise<number>
  readonly #workplace: Workplace
  /** Null where it is only counted. */
  readonly #text: Promise<PreparedText> | null
  #course: AnswerCourse | null = null
  /** Until the replica has said how much of the prompt it had, where it is asked for that at the end of the first leg. */
  #counting: Promise<void> = Promise.resolve()

  constructor(workplace: Workplace, request: EngineRequest, signal: AbortSignal, tokensMax: number | null) {
    super(workplace, request, signal, tokensMax)
    this.#workplace = workplace
    const isOnlyCounted = request.windowTokensMax === Infinity
    this.#text = isOnlyCounted ? null : this.#prepare()
    this.tokens =
      this.#text?.then(({ prompt }) => prompt.tokens.length) ?? workplace.count(request, this.leaving.signal)
    this.tokens.catch((error: unknown) => this.failUnlessRun(error))
  }

  protected override get hasStarted(): boolean {
    return this.#course?.hasStarted === true
  }

  protected override get outputTokens(): number {
    return this.#course?.outputTokens ?? 0
  }

  protected override get isWorking(): boolean {
    return this.#course !== null
  }

  protected override usage(): Usage {
    return this.#course?.usage() ?? zeroUsage
  }

  protected override limit(outputTokens: number): void {
    this.#course?.limit(outputTokens)
  }

  async #prepare(): Promise<PreparedText> {
    const { signal } = this.leaving
    signal.throwIfAborted()
    const { windowTokens } = await this.#workplace.model(signal)
    const window = Math.min(windowTokens, this.request.windowTokensMax)
    const text = await this.#workplace.text(this.request, window, signal)
    this.unenforced = text.plan.unenforced
    return text
  }

  protected override async work(terms: RunTerms): Promise<void> {
    if (this.#text === null) throw new Error('A prompt that is only counted is not run.')
    const text = await this.#text
    if (text.prompt.tokens.length > (terms.inputTokensMax ?? Infinity)) {
      this.giveBack(new PromptLongerThanExpected())
      return
    }
    const { signal } = this.leaving
    const { model, reader, windowTokens } = await this.#workplace.model(signal)
    const course = new AnswerCourse({
      request: this.request,
      text,
      model,
      reader,
      windowTokens: Math.min(windowTokens, this.request.windowTokensMax),
      outputTokensMax: terms.outputTokensMax,
      seed: Math.floor(this.#workplace.random() * seeds),
      emit: (event) => this.emit(event),
    })
    this.#course = course
    if (terms.firstOutputTokens !== undefined) this.allow(terms.firstOutputTokens, false)
    course.limit(this.outputTokensAllowed ?? Infinity)
    await this.#runLegs(course)
    this.end(null)
  }

  async #runLegs(course: AnswerCourse): Promise<void> {
    const { signal } = this.leaving
    const excluded = new Set<string>()
    let retries = 0
    for (;;) {
      const asked: AskedLeg = { leg: course.leg(), request: this.request, excluded, retries }
      const running = await this.#workplace.begin(asked, signal)
      this.placed(running)
      const before = course.outputTokens
      try {
        const turn = await this.#readLeg(running, course)
        running.end(course.outputTokens - before, null)
        retries = 0
        excluded.clear()
        if (turn.kind !== 'ends') continue
        await this.#counting
        signal.throwIfAborted()
        course.start()
        return course.finish(turn.reason)
      } catch (error) {
        const fault = error instanceof ReplicaFault && !signal.aborted ? error : null
        running.end(course.outputTokens - before, fault)
        signal.throwIfAborted()
        // One that went on is a further try no more, and who failed it before may be back.
        if (course.outputTokens > before) {
          retries = 0
          excluded.clear()
        }
        excluded.add(running.replicaId)
        const again = { ...asked, retries }
        if (fault === null || !this.#mayGoOn(fault, course) || !this.#workplace.takeRetry(again)) throw error
        course.rewind()
        retries += 1
      }
    }
  }

  /** What a replica refuses of a request or writes, others do too; and where it has lied, what came of it is not to be gone on from. */
  #mayGoOn({ kind }: ReplicaFault, course: AnswerCourse): boolean {
    if (kind === 'rejected' || kind === 'unfit') return false
    if (!course.hasStarted) return true
    return kind !== 'lied' && this.#workplace.mayResume(this.request, course.isUnderGrammar)
  }

  /** Reads a leg until the answer needs another one or ends. */
  async #readLeg(leg: RunningLeg, course: AnswerCourse): Promise<Turn> {
    const { steps } = leg
    const reading: Reading = { isFirstLeg: course.isFirstLeg, ending: null, isEnded: false }
    let isStopped = false
    try {
      for (;;) {
        const { done, value } = await steps.next()
        if (done === true) throw new ReplicaFault('malformed', 'Its answer ended without an end.')
        const turn = await this.#readSteps(value, course, reading)
        if (turn === null) continue
        isStopped = !reading.isEnded && reading.isFirstLeg && leg.stop()
        if (isStopped) this.#counting = countRest(steps, course)
        return turn
      }
    } finally {
      // What comes behind the end is waited for by nobody; read to its end, a connection serves another request.
      if (reading.isEnded) void drain(steps)
      else if (!isStopped) void steps.return?.()?.catch(() => {})
    }
  }

  /** Returns what ends the leg, null while it goes on. */
  async #readSteps(steps: readonly TokenStep[], course: AnswerCourse, reading: Reading): Promise<Turn | null> {
    let ending: Turn | null = null
    for (const step of steps) {
      if (step.cachedTokens !== undefined && reading.isFirstLeg) course.countCached(step.cachedTokens)
      reading.isEnded ||= step.end !== undefined
      // What comes behind the last token is read for the counts alone.
      const taken: Turn | Promise<Turn> = ending ?? reading.ending ?? this.#take(step, course)
      const turn: Turn = taken instanceof Promise ? await taken : taken
      if (turn.kind === 'next-leg' || (turn.kind === 'ends' && !turn.isEnginesEnd)) ending = turn
      else if (turn.kind === 'ends') reading.ending = turn
    }
    return ending ?? (reading.isEnded ? reading.ending : null)
  }

  /** A promise where the answer has to wait before it takes all of the step. */
  #take(step: TokenStep, course: AnswerCourse, first = 0): Turn | Promise<Turn> {
    if (step.ids.length > 0) course.start()
    for (let index = first; index < step.ids.length; index++) {
      if (this.isUsedUp) return this.untilAllowed().then(() => this.#take(step, course, index))
      const turn = course.take(step.ids[index] as number, step.logprobs?.[index] ?? null)
      this.counted()
      if (turn.kind !== 'goes-on') return turn
    }
    if (this.isBehind) return this.untilRead().then(() => legTurn(step, course))
    return legTurn(step, course)
  }
}

/** What a step that was taken does to its leg. */
function legTurn({ end }: TokenStep, course: AnswerCourse): Turn {
  return end === undefined ? goesOn : course.legEnded(end)
}

/** Reads a leg that was stopped to its end, for what that says of the prompt. */
async function countRest(steps: RunningLeg['steps'], course: AnswerCourse): Promise<void> {
  try {
    for await (const some of steps) {
      const told = some.findLast(({ cachedTokens }) => cachedTokens !== undefined)?.cachedTokens
      if (told !== undefined) course.countCached(told)
    }
  } catch {
    // What was not said counts as new.
  }
}

async function drain(steps: AsyncIterator<unknown>): Promise<void> {
  try {
    while ((await steps.next()).done !== true) continue
  } catch {
    // The answer was whole before.
  }
}
