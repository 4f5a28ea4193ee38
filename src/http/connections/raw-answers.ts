import type { Socket } from 'node:net'
import { ApiError } from '../../core/error.ts'
import type { Clock } from '../../lib/clock.ts'
import { randomId } from '../../lib/random-id.ts'
import { encodeSharedError } from '../../protocols/shared-error.ts'
import { closeGently, endGently } from './close-gently.ts'
import { breakBody, type AnswersUnderWay } from './connection-events.ts'

/**
 * Answers what never became a request, or stopped being one: bytes that are no HTTP, oversized headers, broken
 * chunks, a body that ends early, a sender that is too slow.
 *
 * The server's parser has given up on the connection, so it is closed after the answer. Where an answer to
 * an earlier request is under way it is cut, since anything more would stand in the middle of that.
 */
export class MalformedRequests {
  readonly #connections: AnswersUnderWay
  readonly #clock: Clock
  /** The connections whose last answer is on its way; what else they send is no news. */
  readonly #given = new WeakSet<Socket>()

  constructor(connections: AnswersUnderWay, clock: Clock) {
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

export type ErrorParts = { readonly fields: Readonly<Record<string, string | number>>; readonly text: string }

/** Encodes an error that belongs to no route, for a connection that is closed after it. */
export function errorParts(failure: ApiError): ErrorParts {
  const requestId = `req_${randomId()}` as const
  const { headers, body } = encodeSharedError(failure, requestId)
  const text = JSON.stringify(body)
  const fields = {
    ...headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'x-request-id': requestId,
    'request-id': requestId,
    connection: 'close',
  }
  return { fields, text }
}

/** Writes such an error as bytes, where there is no request that could be answered. */
export function rawError(statusLine: string, failure: ApiError): string {
  const { fields, text } = errorParts(failure)
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${statusLine}\r\n${head.join('')}\r\n${text}`
}
