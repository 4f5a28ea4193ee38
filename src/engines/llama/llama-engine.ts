import type { Engine, EngineStatus, Turn } from '../../core/engine.ts'
import { ApiError } from '../../core/error.ts'
import type { Feature } from '../../core/feature.ts'
import { GenerationAborted, zeroUsage, type EngineRequest, type GenerationEvent } from '../../core/generation.ts'
import type { Clock } from '../../lib/clock.ts'
import type { DraftCounts, FromChild, LoadSettings, TaskId, ToChild } from './ipc.ts'
import { mostPromptTokens } from './most-prompt-tokens.ts'
import { Supervisor, type ChildReady } from './supervisor.ts'
import { Task, type TaskNews } from './task.ts'

export type LlamaEngineOptions = {
  readonly settings: LoadSettings
  readonly environment: Readonly<Record<string, string>>
  readonly clock: Clock
  onReady(ready: Omit<ChildReady, 'kind'>): void
  onExit(reason: string): void
  onOutput(line: string): void
}

/** How long a request waits for a child that is loading or restarting. */
const readyWaitMsMax = 10_000
/** A child that has not confirmed an abort by then no longer listens. */
const abortWaitMsMax = 2_000

/** What sampling and grammars give for any weights. */
const always: ReadonlySet<Feature> = new Set(['json-output', 'logprobs', 'logit-bias', 'output-min'])
const withTools: ReadonlySet<Feature> = new Set([...always, 'tools'])

const noDrafts: DraftCounts = { drafted: 0, accepted: 0 }

type Generating = { readonly request: EngineRequest; readonly signal: AbortSignal; readonly turn: Turn | undefined }

/** One try at a request. `isOver` says that the child is done with it. */
type Attempt = { readonly task: Task; isOver: boolean; stopListening(): void }

/** An engine that runs one file of weights in a child process. */
export class LlamaEngine implements Engine {
  readonly #clock: Clock
  readonly #supervisor: Supervisor
  readonly #tasks = new Map<TaskId, Task>()
  readonly #readyWaiters = new Set<() => void>()
  #lastId = 0
  #ready: ChildReady | null = null
  #isClosed = false
  #drafts: DraftCounts = noDrafts
  /** Those of children that have ended. */
  #draftsBefore: DraftCounts = noDrafts

  constructor(options: LlamaEngineOptions) {
    this.#clock = options.clock
    this.#supervisor = new Supervisor({
      settings: options.settings,
      environment: options.environment,
      clock: options.clock,
      onReady: (message) => {
        this.#ready = message
        options.onReady(message)
        this.#wakeWaiters()
      },
      onMessage: (message) => this.#receive(message),
      onExit: (reason) => {
        for (const task of this.#tasks.values()) task.tell({ kind: 'crashed' })
        this.#draftsBefore = sum(this.#draftsBefore, this.#drafts)
        this.#drafts = noDrafts
        options.onExit(reason)
        this.#wakeWaiters()
      },
      onOutput: options.onOutput,
    })
  }

  /** The child's process id, null between two of them. */
  get pid(): number | null {
    return this.#supervisor.pid
  }

  async *generate(request: EngineRequest, signal: AbortSignal, turn?: Turn): AsyncGenerator<GenerationEvent> {
    let attempt = await this.#attempt({ request, signal, turn }, mostPromptTokens(request))
    let crashes = 0
    try {
      // One loop for all attempts: through a generator for each, an event would pass two.
      for (;;) {
        const { task } = attempt
        const news = await task.next()
        if (news.kind === 'prepared') {
          void this.#beginInTurn(task, news.inputTokens)
          continue
        }
        attempt.isOver = news.kind === 'event' ? news.event.type === 'finish' : news.kind !== 'refused'
        throwIfRefused(news, signal)
        if (news.kind !== 'event') {
          crashes += task.isWaiting ? 0 : 1
          attempt = await this.#attemptAgain(attempt, crashes, { request, signal, turn })
          continue
        }
        // What was under way when the abort was sent is read to its end, for the counts alone.
        if (signal.aborted) continue
        this.#reportTaken(task)
        yield news.event
        if (attempt.isOver) return
      }
    } finally {
      this.#leave(attempt)
    }
  }

  async countTokens(request: EngineRequest, signal: AbortSignal): Promise<number> {
    const task = await this.#createTask(signal)
    this.#send({ kind: 'count', id: task.id, request })
    const abort = () => this.#supervisor.send({ kind: 'abort', id: task.id })
    signal.addEventListener('abort', abort, { once: true })
    try {
      const news = await task.next()
      if (news.kind === 'counted') return news.tokens
      throwIfRefused(news, signal)
      throw engineFailed()
    } finally {
      signal.removeEventListener('abort', abort)
      this.#tasks.delete(task.id)
    }
  }

  status(): EngineStatus {
    const { state } = this.#supervisor
    let running = 0
    for (const task of this.#tasks.values()) if (task.hasStarted) running += 1
    return {
      state: this.#isClosed || state === 'stopped' ? 'closed' : state,
      windowTokens: this.#ready?.windowTokens ?? null,
      features: this.#ready?.takesTools === false ? always : withTools,
      running,
      waiting: this.#tasks.size - running,
      slots: this.#ready?.slots ?? null,
      drafts: sum(this.#draftsBefore, this.#drafts),
    }
  }

  /** Prompts that have left their slots may take so many bytes from now on; what is too much goes. */
  resizeCache(bytesMax: number): void {
    this.#supervisor.resizeCache(bytesMax)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#wakeWaiters()
    await this.#supervisor.stop()
  }

  async #createTask(
    signal: AbortSignal,
    turn: Turn | null = null,
    inputTokensMax: number | null = null,
  ): Promise<Task> {
    await this.#untilReady(signal)
    if (signal.aborted) throw new GenerationAborted(zeroUsage)
    const task = new Task(++this.#lastId, turn, inputTokensMax)
    this.#tasks.set(task.id, task)
    return task
  }

  #send(message: Extract<ToChild, { readonly request: EngineRequest }>): void {
    this.#supervisor.sendText(message, countCharacters(message.request))
  }

  async #beginInTurn(task: Task, inputTokens: number): Promise<void> {
    if (task.takesHeadStart(inputTokens)) return
    const terms = await task.awaitTurn(inputTokens)
    if (terms === null) return
    this.#supervisor.send({ kind: 'begin', id: task.id, outputTokensMax: terms.outputTokensMax ?? null })
  }

  /** `inputTokensMax` is given for a first attempt at a short prompt, which may then begin before it is counted. */
  async #attempt({ request, signal, turn }: Generating, inputTokensMax: number | null = null): Promise<Attempt> {
    const task = await this.#createTask(signal, turn, inputTokensMax)
    const { id, headStart } = task
    this.#send({ kind: 'generate', id, request, awaitsTurn: turn !== undefined, headStart })
    return { task, isOver: false, stopListening: this.#abortOn(signal, task) }
  }

  /**
   * A request that the crashed child had not begun is as good as new and is tried once more; one
   * that is itself the cause can so end two children and no more.
   */
  #attemptAgain(crashed: Attempt, crashes: number, asked: Generating): Promise<Attempt> {
    if (crashed.task.hasStarted || crashes >= 2) throw engineFailed()
    this.#leave(crashed)
    return this.#attempt(asked)
  }

  /** A second call changes nothing. */
  #leave({ task, isOver, stopListening }: Attempt): void {
    stopListening()
    if (this.#tasks.delete(task.id) && !isOver) this.#supervisor.send({ kind: 'abort', id: task.id })
  }

  /** Has the child abort a task, and ends a child that does not. Returns the way to stop listening. */
  #abortOn(signal: AbortSignal, { id }: Task): () => void {
    let cancelGrace = () => {}
    const abort = () => {
      this.#supervisor.send({ kind: 'abort', id })
      cancelGrace = this.#clock.after(abortWaitMsMax, () => this.#supervisor.kill())
    }
    signal.addEventListener('abort', abort, { once: true })
    return () => {
      cancelGrace()
      signal.removeEventListener('abort', abort)
    }
  }

  #reportTaken(task: Task): void {
    const events = task.takenToReport()
    if (events > 0) this.#supervisor.send({ kind: 'taken', id: task.id, events })
  }

  #receive(message: FromChild): void {
    if (message.kind === 'events') {
      for (const [id, event] of message.batch) this.#tasks.get(id)?.tell({ kind: 'event', event })
    } else if (message.kind === 'pong') {
      this.#drafts = message.drafts
    } else if ('id' in message) {
      this.#tasks.get(message.id)?.tell(message)
    }
  }

  /** Waits for a child that can take work. A child that keeps failing is refused at once. */
  async #untilReady(signal: AbortSignal): Promise<void> {
    const deadlineMs = this.#clock.monotonicMs() + readyWaitMsMax
    while (this.#supervisor.state !== 'ready' && !signal.aborted) {
      const waitMs = deadlineMs - this.#clock.monotonicMs()
      if (this.#isClosed || this.#supervisor.state === 'down' || waitMs <= 0) throw notReady()
      await this.#changeOfState(waitMs, signal)
    }
  }

  #changeOfState(waitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        cancel()
        signal.removeEventListener('abort', done)
        this.#readyWaiters.delete(done)
        resolve()
      }
      const cancel = this.#clock.after(waitMs, done)
      signal.addEventListener('abort', done, { once: true })
      this.#readyWaiters.add(done)
    })
  }

  #wakeWaiters(): void {
    for (const wake of this.#readyWaiters) wake()
  }
}

function sum(a: DraftCounts, b: DraftCounts): DraftCounts {
  return { drafted: a.drafted + b.drafted, accepted: a.accepted + b.accepted }
}

function countCharacters({ messages }: EngineRequest): number {
  let characters = 0
  for (const { content } of messages) for (const block of content) if ('text' in block) characters += block.text.length
  return characters
}

function throwIfRefused(news: TaskNews, signal: AbortSignal): void {
  if (news.kind === 'failed') throw new ApiError(news.reason, news.message)
  if (news.kind === 'refused') throw news.error
  if (news.kind === 'aborted') throw new GenerationAborted(news.usage)
  if (!signal.aborted) return
  if (news.kind === 'crashed') throw new GenerationAborted(zeroUsage)
  if (news.kind === 'event' && news.event.type === 'finish') throw new GenerationAborted(news.event.usage)
}

function notReady(): ApiError {
  return new ApiError(
    { code: 'overloaded', retryAfterMs: 5_000 },
    'The model is not ready yet. Please try again shortly.',
  )
}

function engineFailed(): ApiError {
  return new ApiError({ code: 'engine-failed' }, 'The model stopped unexpectedly. Please try again.')
}
