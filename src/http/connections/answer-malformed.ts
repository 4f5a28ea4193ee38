import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '../../core/error.ts'
import type { Clock } from '../../lib/clock.ts'
import { endGently } from './close-gently.ts'
import type { OpenConnections } from './open-connections.ts'
import { rawError } from './raw-error.ts'

/** Emitted by a request whose body turns out to be broken, with the ApiError that it is to be answered with. */
export const brokenBody = 'broken-body'

/**
 * Answers what never became a request, or stopped being one: bytes that are no HTTP, oversized headers, broken
 * chunks, a body that ends early, a sender that is too slow.
 *
 * The server's parser has given up on the connection, so it is closed after the answer. Where an answer to
 * an earlier request is under way it is cut, since anything more would stand in the middle of that.
 */
export class MalformedRequests {
  readonly #connections: OpenConnections
  readonly #clock: Clock
  /** Those whose last answer is on its way; what else comes is no news. */
  readonly #given = new WeakSet<Socket>()

  constructor(connections: OpenConnections, clock: Clock) {
    this.#connections = connections
    this.#clock = clock
  }

  answer(error: NodeJS.ErrnoException, socket: Socket): void {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    if (this.#given.has(socket)) return
    const { statusLine, failure } = classify(error.code)
    const [first, ...others] = this.#connections.answersOf(socket)
    if (first !== undefined) {
      const isItsOwn = others.length === 0 && !first.req.complete
      if (!isItsOwn || first.headersSent) {
        // An answer that ends its connection anyway may be read to its end.
        if (!isItsOwn || first.shouldKeepAlive) socket.destroy()
        return
      }
      this.#given.add(socket)
      // Whoever reads the body answers, in the format of its route.
      if (tellReader(first.req, failure)) return
    }
    this.#given.add(socket)
    socket.write(rawError(statusLine, failure))
    endGently(socket, this.#clock)
  }
}

function tellReader(request: IncomingMessage, failure: ApiError): boolean {
  return request.emit(brokenBody, failure)
}

function classify(code: string | undefined): { statusLine: string; failure: ApiError } {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const message = 'The request arrived too slowly.'
    return { statusLine: '408 Request Timeout', failure: new ApiError({ code: 'request-timeout' }, message) }
  }
  const reason = { code: 'invalid-request', path: null, fault: null } as const
  if (code === 'HPE_HEADER_OVERFLOW') {
    const failure = new ApiError(reason, 'The request headers are too large.')
    return { statusLine: '431 Request Header Fields Too Large', failure }
  }
  if (code === 'HPE_INVALID_EOF_STATE') {
    return { statusLine: '400 Bad Request', failure: new ApiError(reason, 'The request ended early.') }
  }
  return { statusLine: '400 Bad Request', failure: new ApiError(reason, 'The request is not valid HTTP.') }
}
