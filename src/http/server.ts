import { lookup } from 'node:dns/promises'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { invalidRequest } from '../core/error.ts'
import type { Clock } from '../lib/clock.ts'
import { randomId } from '../lib/random-id.ts'
import type { HttpBounds } from './bounds.ts'
import { closeGently } from './connections/close-gently.ts'
import { errorParts } from './connections/raw-answers.ts'

/**
 * Connections that the system holds until they are accepted. Beyond it a client's packet is dropped, and it tries again
 * only after one, three, seven seconds. The system has a bound of its own, mostly as large.
 */
const backlog = 4_096
/** Longer than load balancers keep theirs, so that none reuses a connection that is just being closed. */
const keepAliveMs = 75_000
/**
 * A connection on which nothing moves is cut. Streams are kept alive every 10 s and whole answers every 30 s at
 * the latest, so it is one whose reader has stopped reading.
 */
const stillMsMax = 90_000

/** Schemas are read and answers written without Fastify, whose own two compilers would be in memory for nothing. */
const noCompiler = (): never => {
  throw new Error('A route has a schema for Fastify.')
}

/** Sets how the server listens: time and size limits for what arrives, none for how long an answer takes. */
export function serverOptions({ requestMsMax }: Pick<HttpBounds, 'requestMsMax'>) {
  return {
    logger: false,
    genReqId: () => `req_${randomId()}`,
    requestIdHeader: false,
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    // An id that is too long is an unknown model and no other path.
    routerOptions: { maxParamLength: 16_384 },
    // A drained service answers its last requests itself, in the right format.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    // These are set on the server after it is made, whatever is said below.
    requestTimeout: requestMsMax,
    keepAliveTimeout: keepAliveMs,
    connectionTimeout: stillMsMax,
    http: {
      headersTimeout: Math.min(10_000, requestMsMax),
      connectionsCheckingInterval: Math.min(2_000, requestMsMax),
      maxHeaderSize: 16_384,
      // Checked below: the server itself would answer without a body.
      requireHostHeader: false,
    },
  } as const
}

/** Throws for a request that does not say, or says twice, which host it is for; a sender like that is not listened to any longer. */
export function requireHost({ httpVersion, rawHeaders }: IncomingMessage, response: ServerResponse): void {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  if (hosts === 1 || (hosts === 0 && httpVersion !== '1.1')) return
  response.setHeader('connection', 'close')
  throw invalidRequest(null, null, hosts === 0 ? 'The Host header is missing.' : 'There are two Host headers.')
}

/** An `Expect` other than `100-continue` cannot be met; the server itself would answer without a body. */
export function refuseExpectations(server: Server, clock: Clock): void {
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { fields, text } = errorParts(invalidRequest(null, null, 'The Expect header cannot be met.'))
    closeGently(response, clock)
    response.writeHead(417, fields).end(text)
  })
}

type FindAddresses = (name: string) => Promise<readonly { readonly address: string }[]>

/**
 * Listens, and returns the address.
 *
 * The name `localhost` mostly has two addresses. The framework would give the second one a server of its own, which none
 * of the door's bounds apply to; here what comes to it is handed to the first.
 */
export async function listen(
  app: FastifyInstance,
  { host, port }: { readonly host: string; readonly port: number },
  findAddresses: FindAddresses = (name) => lookup(name, { all: true }),
): Promise<string> {
  if (host !== 'localhost') return app.listen({ host, port, backlog })
  const [first, ...others] = await findAddresses(host)
  const address = await app.listen({ host: first?.address ?? host, port, backlog })
  const { port: actualPort } = app.server.address() as AddressInfo
  await Promise.all(others.map((other) => listenToo(app, other.address, actualPort)))
  return address
}

/** An address that this machine does not have is left out, as the first one is enough. */
function listenToo({ server }: FastifyInstance, host: string, port: number): Promise<void> {
  const other = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) =>
    server.emit('connection', socket),
  )
  server.once('close', () => other.close())
  return new Promise((resolve) => {
    other.once('error', () => resolve())
    other.listen({ port, host, backlog }, () => resolve())
  })
}
