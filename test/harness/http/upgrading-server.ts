import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'

export type UpgradingServer = {
  readonly address: string
  /** What a request ends with; `no end` where its connection is over and it still has none. */
  endOf(request: Promise<unknown>): Promise<string>
  close(): Promise<void>
}

/** A server that changes to another protocol, whatever it is asked. */
export async function startUpgradingServer(): Promise<UpgradingServer> {
  const server: Server = createServer((_, response) => {
    response.writeHead(101, { connection: 'upgrade', upgrade: 'websocket' }).end()
  })
  const closed = new Promise<void>((resolve) => {
    server.once('connection', (socket) => socket.once('close', () => resolve()))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    endOf(request) {
      const end = request.then(
        () => 'an answer',
        (error: unknown) => String(error),
      )
      return Promise.race([end, closed.then(() => turn()).then(() => 'no end')])
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
