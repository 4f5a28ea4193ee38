// Writes answers, as server-sent events (SSE) or whole, to clients that may be slow, silent or gone. For streams:
//
//   back-pressure   the next event waits until the socket has taken the last one
//   a stalled reader is cut off after 30 s, a vanished one is noticed at once
//   silence         is filled with pings, so that no proxy takes it for a dead stream
//   failure         one error event, then the connection is destroyed: an answer that
//                   broke off must never look like one that ended

import type { OutgoingHttpHeader, ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { Clock } from '../lib/clock.ts'
import type { SseMessage } from '../protocols/protocol.ts'

export type RawResponse = {
  readonly raw: ServerResponse
  /** The headers set on the reply, for the head: the raw response knows nothing of them. */
  readonly headers: Readonly<Record<string, OutgoingHttpHeader | undefined>>
}

/** Takes an answer over from the framework. */
export function takeOver(reply: FastifyReply): RawResponse {
  reply.hijack()
  return { raw: reply.raw, headers: reply.getHeaders() }
}

/** Thrown by a write to a client that left or stopped reading. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
}

/** Proxies cut connections after as little as 60 s, and some clients complain after 20. */
const pingIntervalMs = 10_000
const stallMsMax = 30_000
const comment = ': keep-alive\n\n'
const lastChunk = '0\r\n\r\n'

export type SseOptions = {
  readonly clock: Clock
  readonly ping: SseMessage | null
  /** What the head says besides. */
  readonly headers: Readonly<Record<string, OutgoingHttpHeader | undefined>>
}

export class SseWriter {
  readonly #response: ServerResponse
  readonly #clock: Clock
  readonly #ping: SseMessage | null
  /** Whether what is written has to be made into chunks. */
  readonly #isChunked: boolean
  #hasWritten = false
  #quietSinceMs: number
  #cancelPing = () => {}

  /**
   * Sends the head at once, together with the messages that are there already. Before the first event
   * silence is filled with comments, which every format allows anywhere.
   */
  constructor(response: ServerResponse, { clock, ping, headers }: SseOptions) {
    this.#response = response
    this.#clock = clock
    this.#ping = ping
    response.writeHead(200, {
      ...headers,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
    const { socket } = response
    socket?.cork()
    response.flushHeaders()
    // The server itself would send each chunk in four pieces, which takes three times as long as sending it in one.
    this.#isChunked = response.chunkedEncoding
    response.chunkedEncoding = false
    // Runs when everything that is ready has had its turn, and before anything is waited for.
    process.nextTick(() => socket?.uncork())
    socket?.setNoDelay(true)
    response.on('error', () => {})
    this.#quietSinceMs = clock.monotonicMs()
    this.#schedulePing(pingIntervalMs)
  }

  /** Null where the next message may follow at once; else a promise of when it may, which nearly no message needs. */
  write(message: SseMessage): Promise<void> | null {
    if (this.#response.destroyed) throw new ClientGone('The client has left.')
    this.#hasWritten = true
    this.#quietSinceMs = this.#clock.monotonicMs()
    return this.#put(frame(message)) ? null : this.#drained()
  }

  end(): void {
    this.#cancelPing()
    if (this.#isChunked) this.#response.end(lastChunk, 'latin1')
    else this.#response.end()
  }

  /** Says why the stream breaks off, as far as the client still listens, and cuts the connection. */
  fail(message: SseMessage): void {
    this.#cancelPing()
    if (this.#response.destroyed) return
    this.#put(frame(message), () => this.#response.destroy())
    // A client that does not read would keep the connection open for good.
    this.#clock.after(1_000, () => this.#response.destroy())
  }

  /** Returns whether the socket takes more. */
  #put(text: string, whenTaken?: () => void): boolean {
    const size = Buffer.byteLength(text)
    const chunk = this.#isChunked ? `${size.toString(16)}\r\n${text}\r\n` : text
    // Text of as many bytes as characters need not be encoded.
    return this.#response.write(chunk, size === text.length ? 'latin1' : 'utf8', whenTaken)
  }

  /** Waiting for `drain` alone would wait for ever when the socket is destroyed. */
  #drained(): Promise<void> {
    const response = this.#response
    return new Promise((resolve, reject) => {
      const finish = (error: ClientGone | null) => {
        cancel()
        response.off('drain', onDrain).off('close', onClose)
        if (error === null) resolve()
        else reject(error)
      }
      const onDrain = () => finish(null)
      const onClose = () => finish(new ClientGone('The client has left.'))
      const cancel = this.#clock.after(stallMsMax, () => {
        response.destroy()
        finish(new ClientGone('The client stopped reading.'))
      })
      response.once('drain', onDrain).once('close', onClose)
    })
  }

  /** One timer at a time, which looks when it fires how long it has been quiet: an event sets none. */
  #schedulePing(waitMs: number): void {
    this.#cancelPing = this.#clock.after(waitMs, () => {
      if (this.#response.destroyed) return
      const nowMs = this.#clock.monotonicMs()
      const leftMs = this.#quietSinceMs + pingIntervalMs - nowMs
      if (leftMs > 0) return this.#schedulePing(leftMs)
      const text = this.#hasWritten && this.#ping !== null ? frame(this.#ping) : comment
      // A full buffer means that the client has enough to read already.
      if (!this.#response.writableNeedDrain) this.#put(text)
      this.#quietSinceMs = nowMs
      this.#schedulePing(pingIntervalMs)
    })
  }
}

function frame({ event, data }: SseMessage): string {
  return event === undefined ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`
}

/** Well within the 60 s after which common proxies, and the 300 s after which clients, give up on a silent server. */
const firstSpaceMs = 30_000
const spaceIntervalMs = 15_000

/**
 * Writes an answer that comes all at once, perhaps after a long time.
 *
 * JSON may begin with white space, so a space now and then keeps the connection
 * alive. The first one commits to status 200: a failure after it can only cut
 * the connection, which clients take as a failure and try again.
 */
export class WholeAnswerWriter {
  readonly #reply: FastifyReply
  readonly #clock: Clock
  readonly #completeHead: () => void
  #isCommitted = false
  #cancel: () => void

  /** `completeHead` puts on the answer's head, just before it is sent, what changes until then. */
  constructor(reply: FastifyReply, clock: Clock, completeHead: () => void) {
    this.#reply = reply
    this.#clock = clock
    this.#completeHead = completeHead
    this.#cancel = clock.after(firstSpaceMs, () => this.#keepAlive())
  }

  async send(json: string): Promise<void> {
    this.#cancel()
    if (this.#isCommitted) {
      this.#reply.raw.end(json)
      return
    }
    this.#completeHead()
    await this.#reply.code(200).type('application/json').send(json)
  }

  /** Returns whether it was too late to answer with an error; the connection is cut then. */
  giveUp(): boolean {
    this.#cancel()
    if (this.#isCommitted) this.#reply.raw.destroy()
    return this.#isCommitted
  }

  #keepAlive(): void {
    const { raw } = this.#reply
    if (!this.#isCommitted) {
      this.#isCommitted = true
      this.#completeHead()
      const { headers } = takeOver(this.#reply)
      raw.on('error', () => {})
      raw.writeHead(200, { ...headers, 'content-type': 'application/json' })
    }
    if (!raw.destroyed && !raw.writableNeedDrain) raw.write(' ')
    this.#cancel = this.#clock.after(spaceIntervalMs, () => this.#keepAlive())
  }
}
