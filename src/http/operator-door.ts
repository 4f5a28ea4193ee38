import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Where the commands of this machine reach the service, and the key that lets them in. */
export type OperatorAccess = { readonly address: string; readonly key: string }

/**
 * A second way in to the management API, for the command line of the same machine alone.
 *
 * It listens on loopback, on a port of its own: the connections and requests of
 * clients cannot use it up, and no key that comes through the public address is
 * ever taken for the operator's. The key lives as long as the service.
 */
export class OperatorDoor {
  readonly #key = randomBytes(32).toString('base64url')
  readonly #admitted = new WeakSet<IncomingMessage>()
  #server: Server | null = null

  /** Whether a request came in through this door, and so with its key. */
  isOperator(request: IncomingMessage): boolean {
    return this.#admitted.has(request)
  }

  async listen(app: FastifyInstance): Promise<OperatorAccess> {
    const server = createServer((request, response) => {
      if (!this.#isAdmitted(request)) return refuse(response)
      this.#admitted.add(request)
      app.routing(request, response)
    })
    this.#server = server
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(0, '127.0.0.1', resolve)
    })
    const { port } = server.address() as AddressInfo
    return { address: `http://127.0.0.1:${port}`, key: this.#key }
  }

  async close(): Promise<void> {
    const server = this.#server
    if (server === null) return
    await new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  }

  #isAdmitted({ headers, url }: IncomingMessage): boolean {
    const shown = Buffer.from(headers.authorization ?? '')
    const expected = Buffer.from(`Bearer ${this.#key}`)
    const isKey = shown.length === expected.length && timingSafeEqual(shown, expected)
    return isKey && url?.startsWith('/api/') === true
  }
}

/** What asks without the key is no command of this service's operator, and is told nothing. */
function refuse(response: ServerResponse): void {
  response.writeHead(401, { connection: 'close' }).end()
}
