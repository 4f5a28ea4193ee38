import { Worker } from 'node:worker_threads'
import { ApiError } from '../../core/error.ts'
import type { Clock } from '../../lib/clock.ts'
import { Assembly } from '../../lib/portions.ts'
import type { BodyKind, Decodings } from './decode-body.ts'
import type { DecodeSettings, FromDecoder, ToDecoder } from './decode-worker.ts'

export type Decoded<Use extends keyof Decodings> = {
  readonly shaped: Decodings[Use]
  /** Stands for the body where it has to be recognised. */
  readonly bytes: Uint8Array
}

type Pending = {
  readonly assembly: Assembly
  resolve(decoded: Decoded<keyof Decodings>): void
  reject(error: Error): void
}

/** A thread without work ends after so long, and what it has taken of memory goes back to the system. */
const idleMsMax = 30_000

/** Decodes large bodies in a thread of its own, which is there while it has work. */
export class DecodeThread {
  readonly #settings: DecodeSettings
  readonly #clock: Clock
  readonly #pending = new Map<number, Pending>()
  #worker: Worker | null = null
  #lastId = 0
  #cancelEnd = () => {}

  constructor(settings: DecodeSettings, clock: Clock) {
    this.#settings = settings
    this.#clock = clock
  }

  /** The blocks belong to the thread from now on. */
  decode<Use extends keyof Decodings>(kind: BodyKind<Use>, blocks: readonly Buffer[]): Promise<Decoded<Use>> {
    this.#cancelEnd()
    const worker = (this.#worker ??= this.#start())
    const id = ++this.#lastId
    const { promise, resolve, reject } = Promise.withResolvers<Decoded<keyof Decodings>>()
    this.#pending.set(id, { assembly: new Assembly(), resolve, reject })
    const body = { kind, blocks: blocks.map((block) => new Uint8Array(block.buffer, block.byteOffset, block.length)) }
    const message: ToDecoder = { id, body }
    worker.postMessage(message, [...new Set(blocks.map(({ buffer }) => buffer as ArrayBuffer))])
    return promise as Promise<Decoded<Use>>
  }

  async close(): Promise<void> {
    this.#cancelEnd()
    const worker = this.#worker
    this.#worker = null
    await worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(new URL('./decode-worker.ts', import.meta.url), { workerData: this.#settings })
    worker.unref()
    worker.on('message', (news: FromDecoder) => this.#receive(worker, news))
    // An error is followed by the end, which is where it is dealt with.
    worker.on('error', () => {})
    worker.once('exit', () => {
      if (this.#worker !== worker) return
      this.#worker = null
      // Too much for its memory, most likely.
      const failure = new Error('The thread that decodes bodies has ended.')
      for (const { reject } of this.#pending.values()) reject(failure)
      this.#pending.clear()
    })
    return worker
  }

  #receive(worker: Worker, news: FromDecoder): void {
    const pending = this.#pending.get(news.id)
    if (pending === undefined) return
    if ('portion' in news) {
      pending.assembly.add(news.portion)
      // Others have their turn between two portions.
      setImmediate(() => worker.postMessage({ id: news.id } satisfies ToDecoder))
      return
    }
    this.#pending.delete(news.id)
    if (this.#pending.size === 0) this.#cancelEnd = this.#clock.after(idleMsMax, () => void this.close())
    if ('digest' in news) {
      pending.resolve({ shaped: pending.assembly.value as Decodings[keyof Decodings], bytes: news.digest })
    } else if ('bug' in news) pending.reject(new Error(`A body could not be decoded: ${news.bug}`))
    else pending.reject(new ApiError(news.reason, news.message))
  }
}
