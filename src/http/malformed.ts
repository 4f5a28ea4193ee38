import type { Socket } from 'node:net'
import { ApiError } from '../core/error.ts'
import { randomId } from '../lib/random-id.ts'
import { encodeSharedError } from '../protocols/shared-error.ts'

/**
 * Answers what never became a request: bytes that are no HTTP, oversized headers, a sender that is too slow.
 *
 * The server's parser has given up on the connection, so it is closed after the answer.
 */
export function answerMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const requestId = `req_${randomId()}` as const
  const { statusLine, failure } = classify(error.code)
  const body = JSON.stringify(encodeSharedError(failure, requestId).body)
  socket.end(
    `HTTP/1.1 ${statusLine}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `x-request-id: ${requestId}\r\nrequest-id: ${requestId}\r\nconnection: close\r\n\r\n${body}`,
  )
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
