import type { IncomingMessage } from 'node:http'
import { afterReading, type Clock } from '../../lib/clock.ts'
import { toError } from '../../lib/message-of.ts'
import { PushedStream } from '../../lib/pushed-stream.ts'
import { malformed, ReplicaFault } from './dialect.ts'

export type BodyTerms<Item> = {
  readonly clock: Clock
  /** How long the next piece may take while the reader waits for it. */
  waitMsMax(): number
  /** What a piece brings, null where that is nothing yet. Throws a ReplicaFault where it is no part of an answer. */
  take(bytes: Buffer): Item | null
  /** What the end brings. Throws a ReplicaFault where no body ends so. */
  end?(): Item | null
  /** All of it was taken. Throws a ReplicaFault where the answer had not ended. */
  ended?(): void
  /** Called once: it was read to its end, has failed or was left. */
  onOver?(): void
}

/** Items that may be unread before no more is read of the connection. */
const unreadMax = 8

/**
 * The body of an answer, taken apart as it comes, read by one consumer that is thrown a ReplicaFault where it is cut off.
 *
 * It is written by hand: a generator for each layer takes a dozen promises for every token of a stream.
 */
export class ReplicaBody<Item> implements AsyncIterableIterator<Item> {
  readonly #terms: BodyTerms<Item>
  readonly #items: PushedStream<Item>
  #response: IncomingMessage | null = null
  #isOver = false
  /** Since when the reader waits; null while it has something to do. */
  #waitsSinceMs: number | null = null
  #timer: { readonly dueMs: number; readonly cancel: () => void } | null = null

  constructor(terms: BodyTerms<Item>) {
    this.#terms = terms
    this.#items = new PushedStream({ onTaken: () => this.#taken(), onLeft: () => this.#over() })
  }

  /** The headers are there, and the body begins. */
  attach(response: IncomingMessage): void {
    if (this.#isOver) {
      response.destroy()
      return
    }
    this.#response = response
    response
      .on('data', this.#receive)
      .once('end', () => this.#finish(response))
      .once('error', (error) => this.fail(faultOf(error)))
      .once('close', () => this.fail(malformed('Its answer was cut off.')))
    // How long the headers may take is bounded by whoever waits for them.
    if (this.#waitsSinceMs !== null) this.#wait()
  }

  fail(error: Error): void {
    if (this.#isOver) return
    this.#items.end(error)
    this.#over()
  }

  next(): Promise<IteratorResult<Item>> {
    if (!this.#isOver && this.#items.unread === 0) this.#wait()
    return this.#items.next()
  }

  return(): Promise<IteratorResult<Item>> {
    return this.#items.return()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  readonly #receive = (bytes: Buffer): void => {
    if (this.#isOver) return
    try {
      this.#push(this.#terms.take(bytes))
    } catch (error) {
      this.fail(toError(error))
    }
  }

  #finish({ complete }: IncomingMessage): void {
    if (this.#isOver) return
    try {
      if (!complete) throw malformed('Its answer was cut off.')
      this.#push(this.#terms.end?.() ?? null)
      this.#terms.ended?.()
      this.#items.end()
      this.#over()
    } catch (error) {
      this.fail(toError(error))
    }
  }

  #push(item: Item | null): void {
    if (item === null) {
      // Whatever has come, the wait for the next piece begins anew.
      if (this.#waitsSinceMs !== null) this.#waitsSinceMs = this.#terms.clock.monotonicMs()
      return
    }
    this.#waitsSinceMs = null
    this.#items.push(item)
    if (this.#items.unread >= unreadMax) this.#response?.pause()
  }

  #taken(): void {
    if (this.#items.unread === unreadMax - 1) this.#response?.resume()
  }

  #over(): void {
    this.#isOver = true
    this.#timer?.cancel()
    this.#timer = null
    this.#response?.destroy()
    this.#terms.onOver?.()
  }

  #wait(): void {
    this.#waitsSinceMs = this.#terms.clock.monotonicMs()
    if (this.#response !== null) this.#watch(this.#waitsSinceMs + this.#terms.waitMsMax())
  }

  /** One timer serves all pieces: it looks again where something has come meanwhile. */
  #watch(dueMs: number): void {
    if (this.#timer !== null && this.#timer.dueMs <= dueMs) return
    this.#timer?.cancel()
    const { clock } = this.#terms
    const cancel = afterReading(clock, dueMs - clock.monotonicMs(), () => {
      this.#timer = null
      this.#look()
    })
    this.#timer = { dueMs, cancel }
  }

  #look(): void {
    if (this.#waitsSinceMs === null) return
    const { clock, waitMsMax } = this.#terms
    const dueMs = this.#waitsSinceMs + waitMsMax()
    if (clock.monotonicMs() < dueMs) this.#watch(dueMs)
    else this.fail(new ReplicaFault('timeout', 'It stopped in the midst of its answer.'))
  }
}

/** What breaks a body off that was not to end yet: a connection that failed, or one that was given up here. */
function faultOf(error: Error): Error {
  return error instanceof ReplicaFault || error.name === 'AbortError'
    ? error
    : malformed('Its answer was cut off.', error)
}
