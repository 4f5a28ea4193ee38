import { ApiError } from '../../core/error.ts'
import { GenerationAborted, zeroUsage, type EngineRequest, type Owner } from '../../core/generation.ts'
import { yieldingPriority } from '../../lib/system/processor-priority.ts'
import { isFromTextChild, type FromTextChild, type TaskId, type ToTextChild } from './ipc.ts'
import type { ModelText } from '../text/model-text.ts'
import type { PreparedText } from '../text/prepared-text.ts'
import { notReady, ReadyGate } from './ready-gate.ts'
import type { ChildOptions } from './child-options.ts'
import { Supervisor } from './supervisor.ts'
import { promptCharacters } from '../text/text-size.ts'

/** The texts of several large bodies and their tokens; the vocabulary is small beside these. */
const memoryBytesMax = 6e9

/** The number of texts that the child works on by turns, each of another key, so that no key gets more of it than another. */
const textsAtOnce = 4

/** It is there after a second, and on a machine where everything starts at once after many. */
const readyWaitMsMax = 30_000

type Answer = Extract<FromTextChild, { readonly kind: 'text' | 'counted' | 'failed' }>

/** One text that is made into tokens. */
type Job = {
  readonly id: TaskId
  readonly request: EngineRequest
  readonly message: ToTextChild
  readonly answer: PromiseWithResolvers<Answer>
}

/**
 * Has long texts made into tokens in a process of their own, which is started when the first one comes.
 *
 * A text that the process ended on is not tried again: it may be the reason.
 */
export class TextChild {
  readonly #options: ChildOptions
  readonly #priority: number
  readonly #gate: ReadyGate
  /** Those of each key that the child has yet to be given, the longest wait first; a key without any is not in it. */
  readonly #waiting = new Map<Owner['apiKeyId'], Set<Job>>()
  /** Those that the child works on. */
  readonly #sent = new Map<TaskId, Job>()
  #supervisor: Supervisor<ToTextChild, FromTextChild> | null = null
  #isClosed = false
  #described: PromiseWithResolvers<ModelText> | null = null
  #lastId = 0

  constructor(options: ChildOptions, priority = yieldingPriority) {
    this.#options = options
    this.#priority = priority
    this.#gate = new ReadyGate({
      clock: options.clock,
      waitMsMax: readyWaitMsMax,
      state: () => this.#state,
      readyInMs: () => null,
    })
  }

  /** Whether texts can no longer be prepared, and will not be before long. */
  get isDown(): boolean {
    return this.#supervisor?.state === 'down'
  }

  get pid(): number | null {
    return this.#supervisor?.pid ?? null
  }

  /** A second call changes nothing. */
  start(): void {
    if (this.#supervisor !== null || this.#isClosed) return
    const { settings } = this.#options
    const boundOf = this.#options.memoryBytesMax
    const supervisor = new Supervisor<ToTextChild, FromTextChild>({
      ...this.#options,
      entry: new URL('./child/text-main.ts', import.meta.url),
      priority: this.#priority,
      settings: { ...settings, gpu: 'off', cacheOnDisk: null },
      memoryBytesMax: (weights) => Math.min(memoryBytesMax, boundOf?.(weights) ?? memoryBytesMax),
      onConfined: () => {},
      isMessage: isFromTextChild,
      onReady: () => this.#changed(),
      onMessage: (message) => this.#receive(message),
      onExit: (reason) => this.#supervisor === supervisor && this.#ended(reason),
    })
    this.#supervisor = supervisor
  }

  /** Ends the process until the next text comes. Changes nothing while texts are under way. */
  rest(): void {
    if (this.#waiting.size + this.#sent.size > 0) return
    const supervisor = this.#supervisor
    this.#supervisor = null
    this.#described = null
    void supervisor?.stop()
  }

  /** The tokens of a prompt, and the grammar of its answer. Rejects with `context-exceeded` for a prompt beyond the window. */
  async prepare(request: EngineRequest, windowTokens: number, signal: AbortSignal): Promise<PreparedText> {
    const answer = await this.#ask(request, signal, (id) => ({ kind: 'prepare', id, request, windowTokens }))
    if (answer.kind === 'text') return answer.text
    throw failureOf(answer)
  }

  async count(request: EngineRequest, signal: AbortSignal): Promise<number> {
    const answer = await this.#ask(request, signal, (id) => ({ kind: 'count', id, request }))
    if (answer.kind === 'counted') return answer.tokens
    throw failureOf(answer)
  }

  /** What a gateway has to know to read the model's tokens. Rejects where the process ends before it has said so. */
  async describe(signal: AbortSignal): Promise<ModelText> {
    this.start()
    await this.#gate.pass(signal)
    signal.throwIfAborted()
    const described = (this.#described ??= Promise.withResolvers())
    // It may fail when whoever asked has left.
    described.promise.catch(() => {})
    this.#supervisor?.send({ kind: 'describe' })
    return described.promise
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#gate.wake()
    this.#described?.reject(textFailed())
    await this.#supervisor?.stop()
  }

  get #state() {
    if (this.#isClosed) return 'stopped'
    return this.#supervisor?.state ?? 'loading'
  }

  async #ask(request: EngineRequest, signal: AbortSignal, toMessage: (id: TaskId) => ToTextChild): Promise<Answer> {
    this.start()
    await this.#gate.pass(signal)
    if (signal.aborted) throw new GenerationAborted(zeroUsage)
    const id = ++this.#lastId
    const job: Job = { id, request, message: toMessage(id), answer: Promise.withResolvers() }
    const { apiKeyId } = request.owner
    this.#waiting.set(apiKeyId, (this.#waiting.get(apiKeyId) ?? new Set()).add(job))
    const leave = () => {
      if (this.#sent.has(id)) this.#supervisor?.send({ kind: 'abort', id })
      job.answer.reject(new GenerationAborted(zeroUsage))
    }
    signal.addEventListener('abort', leave, { once: true })
    this.#sendNext()
    try {
      return await job.answer.promise
    } finally {
      signal.removeEventListener('abort', leave)
      this.#sent.delete(id)
      this.#stopWaiting(job)
      this.#sendNext()
    }
  }

  #sendNext(): void {
    if (this.#state !== 'ready') return
    for (let job = this.#next(); job !== null; job = this.#next()) {
      this.#stopWaiting(job)
      this.#sent.set(job.id, job)
      this.#supervisor?.sendText(job.message, promptCharacters(job.request))
    }
  }

  /** The job that has waited longest of the organization with the fewest texts at work; null while there is no room. */
  #next(): Job | null {
    if (this.#sent.size >= textsAtOnce) return null
    const atWork = [...this.#sent.values()].map(({ request }) => request.owner)
    let next: Job | null = null
    let fewest = Infinity
    // Keys are looked through and not jobs: one key may have thousands of them.
    for (const [apiKeyId, [first]] of this.#waiting) {
      if (first === undefined || atWork.some((owner) => owner.apiKeyId === apiKeyId)) continue
      const { organizationId } = first.request.owner
      const own = atWork.filter((owner) => owner.organizationId === organizationId).length
      if (own > fewest || (own === fewest && first.id > (next?.id ?? 0))) continue
      next = first
      fewest = own
    }
    return next
  }

  #stopWaiting(job: Job): void {
    const { apiKeyId } = job.request.owner
    const ofKey = this.#waiting.get(apiKeyId)
    ofKey?.delete(job)
    if (ofKey?.size === 0) this.#waiting.delete(apiKeyId)
  }

  #receive(message: FromTextChild): void {
    if (message.kind === 'described') this.#described?.resolve(message.model)
    if (message.kind !== 'text' && message.kind !== 'counted' && message.kind !== 'failed') return
    this.#sent.get(message.id)?.answer.resolve(message)
  }

  #ended(reason: string): void {
    if (!this.#isClosed) this.#options.onOutput(`The process that prepares long texts ended (${reason}).`)
    for (const job of this.#sent.values()) job.answer.reject(textFailed())
    this.#described?.reject(textFailed())
    this.#described = null
    this.#changed()
  }

  #changed(): void {
    const state = this.#state
    if (state === 'down' || state === 'stopped')
      for (const ofKey of this.#waiting.values()) for (const job of ofKey) job.answer.reject(notReady())
    this.#gate.wake()
    this.#sendNext()
  }
}

function failureOf(answer: Answer): ApiError {
  return answer.kind === 'failed' ? new ApiError(answer.reason, answer.message) : textFailed()
}

function textFailed(): ApiError {
  return new ApiError({ code: 'engine-failed' }, 'The text of the request could not be prepared.')
}
