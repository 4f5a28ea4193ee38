import type { Socket } from 'node:net'
import { ApiError } from '../../core/error.ts'
import type { Clock } from '../../lib/clock.ts'
import { breakBody } from './broken-body.ts'
import { closeGently, endGently } from './close-gently.ts'
import type { OpenConnections } from './open-connections.ts'
import { rawError } from './raw-error.ts'

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
    if (first === undefined) {
      this.#given.add(socket)
      socket.write(rawError(statusLine, failure))
      endGently(socket, this.#clock)
    } else if (others.length === 0 && !first.req.complete) {
      // Its own body is broken: its route answers, in its own format, or is about to without having read it.
      this.#given.add(socket)
      closeGently(first, this.#clock)
      breakBody(first, failure)
    } else socket.destroy()
  }
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
