import { toApiError } from '../core/error.ts'
import { GenerationAborted, type GenerationEvent } from '../core/generation.ts'
import type { Answer } from './answer.ts'
import type { Settlement } from './settlement.ts'

type Read = IteratorResult<GenerationEvent>

export type AnswerStreamParts = {
  readonly choiceCount: number
  /** Sets one of the answers going, until the signal fires. */
  begin(index: number, signal: AbortSignal): Answer
  readonly settlement: Settlement
  /** What the caller stops the request with. */
  readonly signal: AbortSignal
}

/**
 * The answers to one request, one stream after the other, and the end of their account.
 *
 * The engine works on all of them at the same time; each is read when the one before it has ended. Whatever ends it, the engine is told to stop what is under way and its last word on the counts is waited for: tokens
 * may have been made that nobody has read. It is written by hand because a generator takes several promises for every event.
 */
export class AnswerStream implements AsyncGenerator<GenerationEvent> {
  readonly #settlement: Settlement
  readonly #signal: AbortSignal
  /** One for what is stopped when the caller stops and also before; it is no composite, which every event would look through. */
  readonly #stop = new AbortController()
  readonly #answers: readonly Answer[]
  #finished = 0
  #isOver = false

  constructor({ choiceCount, begin, settlement, signal }: AnswerStreamParts) {
    this.#settlement = settlement
    this.#signal = signal
    signal.addEventListener('abort', this.#abort, { once: true })
    if (signal.aborted) this.#abort()
    this.#answers = Array.from({ length: choiceCount }, (_, index) => begin(index, this.#stop.signal))
  }

  /** Resolves when the first event has arrived; what fails before that ends the account and is thrown. */
  async begun(): Promise<void> {
    await this.#answers[0]?.begun.catch(this.#fail)
  }

  next(): Promise<Read> {
    const answer = this.#answers[this.#finished]
    if (this.#isOver || answer === undefined) return Promise.resolve({ done: true, value: undefined })
    return answer.next().then(this.#pass, this.#fail)
  }

  async return(value: unknown): Promise<Read> {
    if (!this.#isOver) {
      await this.#stopAll()
      await this.#settlement.close('aborted', null)
    }
    return { done: true, value }
  }

  async throw(error: unknown): Promise<Read> {
    await this.return(undefined)
    throw error
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return(undefined)
  }

  readonly #abort = () => this.#stop.abort()

  readonly #pass = (read: Read): Read | Promise<Read> => {
    if (read.done === true) return this.#fail(new Error('The engine ended its stream without a finish event.'))
    if (read.value.type !== 'finish') return read
    this.#finished += 1
    return this.#finished === this.#answers.length ? this.#finish(read, read.value.reason.kind) : read
  }

  /** The row is written before the last event goes on. */
  async #finish(read: Read, reason: string): Promise<Read> {
    this.#isOver = true
    this.#signal.removeEventListener('abort', this.#abort)
    await this.#settlement.close('finished', reason)
    return read
  }

  readonly #fail = async (error: unknown): Promise<never> => {
    this.#answers[this.#finished]?.record(error)
    await this.#stopAll()
    const isAborted = this.#signal.aborted || error instanceof GenerationAborted
    await this.#settlement.close(isAborted ? 'aborted' : 'failed', isAborted ? null : toApiError(error).code)
    throw error
  }

  async #stopAll(): Promise<void> {
    this.#isOver = true
    this.#signal.removeEventListener('abort', this.#abort)
    this.#stop.abort()
    await Promise.all(this.#answers.map((answer) => answer.end()))
  }
}
