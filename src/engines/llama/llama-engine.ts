import type { Engine, EngineStatus } from '../../core/engine.ts'
import { contextExceeded } from '../../core/error.ts'
import { GenerationAborted, zeroUsage, type EngineRequest } from '../../core/generation.ts'
import type { Clock } from '../../lib/clock.ts'
import { toError } from '../../lib/message-of.ts'
import { backgroundPriority, precedingPriority } from '../../lib/system/processor-priority.ts'
import { isFromChild, type DraftCounts, type FromChild, type TaskId, type ToChild } from './ipc.ts'
import { mostPromptTokens, promptCharacters, isShort, leastPromptTokens } from '../text/text-size.ts'
import { PreparedRequest, type Workplace } from './prepared-request.ts'
import type { PreparedText } from '../text/prepared-text.ts'
import { featuresOf } from '../text/model-text.ts'
import { templateFaultIn } from '../text/template-fault.ts'
import { ReadyGate } from './ready-gate.ts'
import type { LoadingOutlook } from './watch-child.ts'
import type { ChildOptions } from './child-options.ts'
import { Supervisor } from './supervisor.ts'
import { TextChild } from './text-child.ts'
import { Uses } from './uses.ts'
import { WeightsPlace } from './weights-place.ts'

type ChildReady = Extract<FromChild, { readonly kind: 'ready' }>

export type LlamaEngineOptions = ChildOptions & {
  /** Another program than the engine child's. */
  readonly entry?: URL
  /** Has its process precede others on the machine's processors, and is told where it may not. */
  readonly precedence?: { onRefused(): void }
  /** How long a request waits that arrives while the child is loading or restarting. */
  readonly readyWaitMsMax?: number
  /** Weights that nobody has used for this long are unloaded until somebody does; kept where it is left out. */
  readonly idleMsMax?: number | null
  onReady(ready: Omit<ChildReady, 'kind'>): void
}

/** Where nobody says how long requests may wait. */
const readyWaitMsDefault = 10_000
/** A request that a crash found in the queue goes on waiting; the queue, which has its own patience, takes it out long before. */
const restartWaitMsMax = 86_400_000
/**
 * How long after the engine is ready the process for long texts is started, if no long text has come before. Its start
 * takes seconds of a processor with large vocabularies, so the other engines of a service are ready by then, and it waits
 * for a moment at which nobody is answered.
 */
const textChildPauseMs = 30_000

const noDrafts: DraftCounts = { drafted: 0, accepted: 0 }

/** A request that the child knows of, and what the text child made of it; null for a short one. */
type Sent = { readonly prepared: PreparedRequest; readonly text: PreparedText | null }

/** An engine that runs one file of weights in a child process. */
export class LlamaEngine implements Engine {
  readonly #supervisor: Supervisor<ToChild, FromChild>
  /** Makes the long prompts of generations into tokens. */
  readonly #texts: TextChild
  /** Counts prompts, for which nobody waits who waits for an answer. */
  readonly #counts: TextChild
  readonly #gate: ReadyGate
  readonly #sent = new Map<TaskId, Sent>()
  /** Counts each request from its preparing to its end. */
  readonly #uses = new Uses()
  readonly #workplace: Workplace
  #lastId = 0
  #ready: ChildReady | null = null
  #isClosed = false
  #cancelTextStart = () => {}
  readonly #clock: Clock
  readonly #idleMsMax: number | null
  #cancelSleep = () => {}
  #drafts: DraftCounts = noDrafts
  /** The drafts of children that have ended. */
  #draftsBefore: DraftCounts = noDrafts

  constructor(options: LlamaEngineOptions) {
    const { clock, readyWaitMsMax = readyWaitMsDefault, idleMsMax = null, precedence } = options
    this.#clock = clock
    this.#idleMsMax = idleMsMax
    this.#workplace = {
      send: (message) => this.#supervisor.send(message),
      leave: ({ id }) => {
        this.#sent.delete(id)
        this.#uses.end()
        this.#sleepLater()
      },
    }
    this.#texts = new TextChild(options)
    this.#counts = new TextChild(options, backgroundPriority)
    this.#gate = new ReadyGate({
      clock,
      waitMsMax: readyWaitMsMax,
      state: () => (this.#isClosed ? 'stopped' : this.#supervisor.state),
      readyInMs: () => this.#supervisor.readyInMs,
      fault: () => templateFaultIn(this.#supervisor.reason),
    })
    this.#supervisor = new Supervisor<ToChild, FromChild>({
      ...options,
      entry: options.entry ?? new URL('./child/main.ts', import.meta.url),
      ...(precedence !== undefined && { priority: precedingPriority, onPriorityRefused: () => precedence.onRefused() }),
      place: new WeightsPlace(),
      isMessage: isFromChild,
      onReady: (message) => {
        this.#ready = message
        options.onReady(message)
        this.#gate.wake()
        this.#cancelTextStart = clock.after(textChildPauseMs, () => this.#startTexts())
        this.#sleepLater()
      },
      onMessage: (message) => this.#receive(message),
      onAsleep: () => {
        this.#keepDrafts()
        options.onAsleep?.()
      },
      onExit: (reason) => {
        this.#sendAgain()
        this.#keepDrafts()
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

  /** How far loading has come, for the operator alone. */
  get loading(): LoadingOutlook {
    return this.#supervisor.loading
  }

  /** The process id of the child for long texts, null while there is none. */
  get textPid(): number | null {
    return this.#texts.pid
  }

  /** The process id of the child that counts, null until something was counted. */
  get countPid(): number | null {
    return this.#counts.pid
  }

  /** How many requests are under way, counted ones included. */
  get uses(): number {
    return this.#uses.count
  }

  whenUnused(): Promise<void> {
    return this.#uses.whenUnused()
  }

  prepare(request: EngineRequest, signal: AbortSignal): PreparedRequest {
    const isOnlyCounted = request.windowTokensMax === Infinity
    const isInChild = !isOnlyCounted && isShort(request)
    const prepared = new PreparedRequest(this.#workplace, request, signal, isInChild ? mostPromptTokens(request) : null)
    this.#wake()
    this.#uses.begin()
    const preparing = isOnlyCounted ? this.#count(prepared) : this.#submit(prepared, isInChild)
    preparing.catch((error: unknown) => prepared.end(toError(error)))
    return prepared
  }

  status(): EngineStatus {
    const { state } = this.#supervisor
    let running = 0
    for (const { prepared } of this.#sent.values()) if (prepared.hasStarted) running += 1
    return {
      state: this.#isClosed || state === 'stopped' ? 'closed' : this.#texts.isDown ? 'down' : state,
      windowTokens: this.#ready?.windowTokens ?? null,
      features: featuresOf[this.#ready?.fitness.tools ?? 'own'],
      running,
      waiting: this.#sent.size - running,
      slots: this.#ready?.slots ?? null,
      guestSlots: this.#ready?.guestSlots ?? 0,
      drafts: sum(this.#draftsBefore, this.#drafts),
    }
  }

  /** Prompts that have left their slots may take `bytesMax` from now on; those beyond it are dropped. */
  resizeCache(bytesMax: number): void {
    this.#supervisor.resizeCache(bytesMax)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelTextStart()
    this.#cancelSleep()
    this.#gate.wake()
    await Promise.all([this.#supervisor.stop(), this.#texts.close(), this.#counts.close()])
  }

  #wake(): void {
    this.#cancelSleep()
    this.#supervisor.wake()
  }

  #sleepLater(): void {
    this.#cancelSleep()
    if (this.#idleMsMax === null || this.#uses.count > 0 || this.#isClosed) return
    this.#cancelSleep = this.#clock.after(this.#idleMsMax, () => this.#sleep())
  }

  #sleep(): void {
    if (this.#supervisor.state !== 'ready') return
    this.#cancelTextStart()
    this.#supervisor.sleep()
    this.#texts.rest()
    this.#counts.rest()
  }

  #startTexts(): void {
    void this.#uses.whenUnused().then(() => this.#supervisor.state === 'ready' && this.#texts.start())
  }

  #keepDrafts(): void {
    this.#draftsBefore = sum(this.#draftsBefore, this.#drafts)
    this.#drafts = noDrafts
  }

  async #count(prepared: PreparedRequest): Promise<void> {
    await this.#gate.pass(prepared.leaving)
    prepared.count(await this.#counts.count(prepared.request, prepared.leaving))
  }

  async #submit(prepared: PreparedRequest, isInChild: boolean): Promise<void> {
    const text = isInChild ? null : await this.#prepareText(prepared)
    await this.#send({ prepared, text })
  }

  /** Has a long text made into tokens. A text that cannot fit by its size alone is refused before anything looks at it. */
  async #prepareText({ request, leaving }: PreparedRequest): Promise<PreparedText> {
    await this.#gate.pass(leaving)
    const { windowTokens: loaded, tokenBytesMax } = this.#ready ?? { windowTokens: Infinity, tokenBytesMax: Infinity }
    const windowTokens = Math.min(loaded, request.windowTokensMax)
    const inputTokens = leastPromptTokens(request, tokenBytesMax)
    if (inputTokens >= windowTokens) throw contextExceeded(inputTokens, windowTokens)
    return this.#texts.prepare(request, windowTokens, leaving)
  }

  async #send(sent: Sent, waitMsMax?: number): Promise<void> {
    const { prepared, text } = sent
    await this.#gate.pass(prepared.leaving, waitMsMax)
    if (prepared.leaving.aborted) throw new GenerationAborted(zeroUsage)
    const id = ++this.#lastId
    this.#sent.set(id, sent)
    const request = text === null ? prepared.request : withoutText(prepared.request)
    const optimisticTerms = prepared.attempt(id)
    this.#supervisor.sendText({ kind: 'generate', id, request, text, optimisticTerms }, promptCharacters(request))
  }

  /** A request that the crashed child had not begun is as good as new and is tried once more. */
  #sendAgain(): void {
    for (const [id, sent] of this.#sent) {
      if (!sent.prepared.survivesCrash()) continue
      this.#sent.delete(id)
      this.#send(sent, restartWaitMsMax).catch((error: unknown) => sent.prepared.end(toError(error)))
    }
  }

  #receive(message: FromChild): void {
    if (message.kind === 'events') {
      for (const [id, event] of message.batch) this.#sent.get(id)?.prepared.take(event)
    } else if (message.kind === 'pong') {
      this.#drafts = message.drafts
    } else if ('id' in message) {
      this.#sent.get(message.id)?.prepared.tell(message)
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
