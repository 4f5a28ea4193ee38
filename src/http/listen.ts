import { lookup } from 'node:dns/promises'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

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
  if (host !== 'localhost') return app.listen({ host, port })
  const [first, ...others] = await findAddresses(host)
  const address = await app.listen({ host: first?.address ?? host, port })
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
    other.listen(port, host, () => resolve())
  })
}
