import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { ApiError, invalidRequest } from '../core/error.ts'
import { randomId } from '../lib/random-id.ts'
import { encodeSharedError } from '../protocols/shared-error.ts'

/** How the server listens: time and size limits for what arrives, none for how long an answer takes. */
export const serverOptions = {
  logger: false,
  genReqId: () => `req_${randomId()}`,
  requestIdHeader: false,
  exposeHeadRoutes: false,
  // An id that is too long is an unknown model and no other path.
  routerOptions: { maxParamLength: 16_384 },
  // A drained service answers its last requests itself, in the right format.
  return503OnClosing: false,
  forceCloseConnections: 'idle',
  http: {
    headersTimeout: 10_000,
    requestTimeout: 120_000,
    connectionsCheckingInterval: 2_000,
    // Longer than load balancers keep theirs, so that none reuses a connection that is just being closed.
    keepAliveTimeout: 75_000,
    maxHeaderSize: 16_384,
    // Checked below: the server itself would answer without a body.
    requireHostHeader: false,
  },
} as const

/** Throws for a request that lacks what its HTTP version demands; a sender like that is not listened to any longer. */
export function requireHost({ httpVersion, headers }: IncomingMessage, response: ServerResponse): void {
  if (httpVersion !== '1.1' || headers.host !== undefined) return
  response.setHeader('connection', 'close')
  throw invalidRequest(null, null, 'The Host header is missing.')
}

/** An `Expect` other than `100-continue` cannot be met; the server itself would answer without a body. */
export function refuseExpectations(server: Server): void {
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const requestId = `req_${randomId()}` as const
    const reason = { code: 'invalid-request', path: null, fault: null } as const
    const { body, headers } = encodeSharedError(new ApiError(reason, 'The Expect header cannot be met.'), requestId)
    const text = JSON.stringify(body)
    const ids = { 'x-request-id': requestId, 'request-id': requestId }
    const entity = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    response.writeHead(417, { ...headers, ...ids, ...entity, connection: 'close' }).end(text)
  })
}
