import type { Engine, EngineStatus, Turn } from '../../core/engine.ts'
import { ApiError, contextExceeded } from '../../core/error.ts'
import type { Feature } from '../../core/feature.ts'
import { GenerationAborted, zeroUsage, type EngineRequest, type GenerationEvent } from '../../core/generation.ts'
import { isFromChild, type DraftCounts, type FromChild, type TaskId, type ToChild } from './ipc.ts'
import { mostPromptTokens } from './most-prompt-tokens.ts'
import type { PreparedText } from './prepared-text.ts'
import { ReadyGate } from './ready-gate.ts'
import { Supervisor, type ChildOptions } from './supervisor.ts'
import { Task, type TaskNews } from './task.ts'
import { TextChild } from './text-child.ts'
import { promptCharacters, isShort, leastPromptTokens } from './text-size.ts'

type ChildReady = Extract<FromChild, { readonly kind: 'ready' }>

export type LlamaEngineOptions = ChildOptions & {
  /** Another program than the engine child's. */
  readonly entry?: URL
  onReady(ready: Omit<ChildReady, 'kind'>): void
}

/** How long a request waits for a child that is loading or restarting. */
const readyWaitMsMax = 10_000
/** How long after the engine is ready the process for long texts is started, if no long text has come before. */
const textChildPauseMs = 10_000

/** What sampling and grammars give for any weights. */
const always: ReadonlySet<Feature> = new Set(['json-output', 'logprobs', 'logit-bias', 'output-min'])
const withTools: ReadonlySet<Feature> = new Set([...always, 'tools'])

const noDrafts: DraftCounts = { drafted: 0, accepted: 0 }

type Generating = {
  readonly request: EngineRequest
  /** What was made of a long request beforehand. */
  readonly text: PreparedText | null
  readonly signal: AbortSignal
  readonly turn: Turn | undefined
}

/** One try at a request. `isOver` says that the child is done with it. */
type Attempt = { readonly task: Task; isOver: boolean; stopListening(): void }

/** An engine that runs one file of weights in a child process. */
export class LlamaEngine implements Engine {
  readonly #supervisor: Supervisor<ToChild, FromChild>
  readonly #texts: TextChild
  readonly #gate: ReadyGate
  readonly #tasks = new Map<TaskId, Task>()
  #lastId = 0
  #ready: ChildReady | null = null
  #isClosed = false
  #cancelTextStart = () => {}
  #drafts: DraftCounts = noDrafts
  /** Those of children that have ended. */
  #draftsBefore: DraftCounts = noDrafts

  constructor(options: LlamaEngineOptions) {
    const { clock } = options
    this.#texts = new TextChild(options)
    this.#gate = new ReadyGate(clock, readyWaitMsMax, () => (this.#isClosed ? 'stopped' : this.#supervisor.state))
    this.#supervisor = new Supervisor<ToChild, FromChild>({
      ...options,
      entry: options.entry ?? new URL('./child/main.ts', import.meta.url),
      isMessage: isFromChild,
      onReady: (message) => {
        this.#ready = message
        options.onReady(message)
        this.#gate.wake()
        this.#cancelTextStart = clock.after(textChildPauseMs, () => this.#texts.start())
      },
      onMessage: (message) => this.#receive(message),
      onExit: (reason) => {
        for (const task of this.#tasks.values()) task.tell({ kind: 'crashed' })
        this.#draftsBefore = sum(this.#draftsBefore, this.#drafts)
        this.#drafts = noDrafts
        options.onExit(reason)
        this.#gate.wake()
      },
    })
  }

  /** The child's process id, null between two of them. */
  get pid(): number | null {
    return this.#supervisor.pid
  }

  /** Why the engine is not ready, for the operator alone. */
  get reason(): string | null {
    return this.#supervisor.reason
  }

  /** That of the child for long texts, null while there is none. */
  get textPid(): number | null {
    return this.#texts.pid
  }

  async *generate(request: EngineRequest, signal: AbortSignal, turn?: Turn): AsyncGenerator<GenerationEvent> {
    const text = isShort(request) ? null : await this.#prepareText(request, signal)
    const generating = { request: text === null ? request : withoutText(request), text, signal, turn }
    let attempt = await this.#attempt(generating, text === null ? mostPromptTokens(request) : null)
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
          attempt = await this.#attemptAgain(attempt, crashes, generating)
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
    await this.#gate.pass(signal)
    return this.#texts.count(request, signal)
  }

  status(): EngineStatus {
    const { state } = this.#supervisor
    let running = 0
    for (const task of this.#tasks.values()) if (task.hasStarted) running += 1
    return {
      state: this.#isClosed || state === 'stopped' ? 'closed' : this.#texts.isDown ? 'down' : state,
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
    this.#cancelTextStart()
    this.#gate.wake()
    await Promise.all([this.#supervisor.stop(), this.#texts.close()])
  }

  /** Has a long text made into tokens. What cannot fit by its size alone is refused before anything looks at it. */
  async #prepareText(request: EngineRequest, signal: AbortSignal): Promise<PreparedText> {
    await this.#gate.pass(signal)
    const { windowTokens: loaded, tokenBytesMax } = this.#ready ?? { windowTokens: Infinity, tokenBytesMax: Infinity }
    const windowTokens = Math.min(loaded, request.windowTokensMax)
    const inputTokens = leastPromptTokens(request, tokenBytesMax)
    if (inputTokens >= windowTokens) throw contextExceeded(inputTokens, windowTokens)
    return this.#texts.prepare(request, windowTokens, signal)
  }

  async #createTask(
    signal: AbortSignal,
    turn: Turn | null = null,
    inputTokensMax: number | null = null,
  ): Promise<Task> {
    await this.#gate.pass(signal)
    if (signal.aborted) throw new GenerationAborted(zeroUsage)
    const task = new Task(++this.#lastId, turn, inputTokensMax)
    this.#tasks.set(task.id, task)
    return task
  }

  async #beginInTurn(task: Task, inputTokens: number): Promise<void> {
    if (task.takesHeadStart(inputTokens)) return
    const terms = await task.awaitTurn(inputTokens)
    if (terms === null) return
    this.#supervisor.send({ kind: 'begin', id: task.id, outputTokensMax: terms.outputTokensMax ?? null })
  }

  /** `inputTokensMax` is given for a first attempt at a short prompt, which may then begin before it is counted. */
  async #attempt({ request, text, signal, turn }: Generating, inputTokensMax: number | null = null): Promise<Attempt> {
    const task = await this.#createTask(signal, turn, inputTokensMax)
    const { id, headStart } = task
    const message = { kind: 'generate', id, request, text, awaitsTurn: turn !== undefined, headStart } as const
    this.#supervisor.sendText(message, promptCharacters(request))
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

  /**
   * Has the child abort a task. Returns the way to stop listening.
   *
   * A child that does not confirm is busy with a step or hangs; which of the two, the supervisor
   * finds out. Killing it here would take the answers of all others with it.
   */
  #abortOn(signal: AbortSignal, { id }: Task): () => void {
    const abort = () => this.#supervisor.send({ kind: 'abort', id })
    signal.addEventListener('abort', abort, { once: true })
    return () => signal.removeEventListener('abort', abort)
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
}

/** What the engine child needs of a request whose text has been prepared. */
function withoutText(request: EngineRequest): EngineRequest {
  return { ...request, messages: [], tools: request.tools.map((tool) => ({ ...tool, description: '' })) }
}

function sum(a: DraftCounts, b: DraftCounts): DraftCounts {
  return { drafted: a.drafted + b.drafted, accepted: a.accepted + b.accepted }
}

function throwIfRefused(news: TaskNews, signal: AbortSignal): void {
  if (news.kind === 'failed') throw new ApiError(news.reason, news.message)
  if (news.kind === 'refused') throw news.error
  if (news.kind === 'aborted') throw new GenerationAborted(news.usage)
  if (!signal.aborted) return
  if (news.kind === 'crashed') throw new GenerationAborted(zeroUsage)
  if (news.kind === 'event' && news.event.type === 'finish') throw new GenerationAborted(news.event.usage)
}

function engineFailed(): ApiError {
  return new ApiError({ code: 'engine-failed' }, 'The model stopped unexpectedly. Please try again.')
}
