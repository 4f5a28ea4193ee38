import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'

export type HttpRequest = {
  readonly method: 'GET' | 'HEAD'
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** The head of an answer, and its body as it comes. */
export type HttpAnswer = {
  readonly status: number
  readonly headers: Headers
  /** Ends with the body; throws when the connection ends before, after all that had come until then. */
  pieces(): AsyncGenerator<Uint8Array>
  /** Takes no more of the body. */
  discard(): void
}

/**
 * Sends a request and resolves with the answer's head; redirects are answers like any other.
 *
 * By hand, because the streams that `fetch` gives throw away what they hold when
 * a connection is cut: of many short-lived connections nothing would be left.
 */
export function sendHttp(url: URL, { method, headers, signal }: HttpRequest): Promise<HttpAnswer> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const sent = send(url, { method, headers, signal })
    sent.once('error', reject)
    sent.once('response', (message) => {
      // A failure from now on is the body's.
      sent.on('error', () => {})
      const body = new HeldBody(message)
      resolve({
        status: message.statusCode ?? 0,
        headers: toHeaders(message),
        pieces: () => body.pieces(),
        discard: () => message.destroy(),
      })
    })
    sent.end()
  })
}

function toHeaders({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  return headers
}

/** The bytes that are held while the disk is slower than the network; then the connection is paused. */
const heldBytesMax = 4 * 1024 * 1024

/** Collects a body from the moment it begins, so that nothing is lost to whoever reads it later. */
class HeldBody {
  readonly #message: IncomingMessage
  readonly #held: Buffer[] = []
  #heldBytes = 0
  #isOver = false
  #wake = () => {}

  constructor(message: IncomingMessage) {
    this.#message = message
    message.on('data', (piece: Buffer) => {
      this.#held.push(piece)
      this.#heldBytes += piece.length
      if (this.#heldBytes > heldBytesMax) message.pause()
      this.#wake()
    })
    message.on('error', () => {})
    message.once('close', () => {
      this.#isOver = true
      this.#wake()
    })
  }

  async *pieces(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const piece = this.#held.shift()
        if (piece !== undefined) {
          this.#heldBytes -= piece.length
          yield piece
        } else if (this.#isOver) {
          break
        } else {
          this.#message.resume()
          await new Promise<void>((resolve) => (this.#wake = resolve))
        }
      }
    } finally {
      this.#message.destroy()
    }
    if (!this.#message.complete) throw this.#message.errored ?? new Error('The connection was closed early.')
  }
}
