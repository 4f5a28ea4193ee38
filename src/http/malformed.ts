import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '../core/error.ts'
import { randomId } from '../lib/random-id.ts'
import { encodeSharedError } from '../protocols/shared-error.ts'

/**
 * Answers what never became a request: bytes that are no HTTP, oversized headers, a sender that is too slow.
 *
 * The server's parser has given up on the connection, so it is closed after the
 * answer; where an answer to an earlier request is under way it is cut, since
 * anything more would stand in the middle of that.
 */
export function answerMalformed(error: NodeJS.ErrnoException, socket: Socket, isAnswering: boolean): void {
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering) {
    socket.destroy()
    return
  }
  const requestId = `req_${randomId()}` as const
  const { statusLine, failure } = classify(error.code)
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
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${statusLine}\r\n${head.join('')}\r\n${text}`)
}

/** Knows which connections have an answer under way. */
export class AnsweringSockets {
  readonly #sockets = new Map<Socket, number>()

  watch(server: Server): void {
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#sockets.set(socket, (this.#sockets.get(socket) ?? 0) + 1)
      response.once('close', () => {
        const left = (this.#sockets.get(socket) ?? 1) - 1
        if (left === 0) this.#sockets.delete(socket)
        else this.#sockets.set(socket, left)
      })
    })
  }

  has(socket: Socket): boolean {
    return this.#sockets.has(socket)
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
  return { statusLine: '400 Bad Request', failure: new ApiError(reason, 'The request is not valid HTTP.') }
}
