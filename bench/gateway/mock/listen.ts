import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Serves on loopback until the program that has started this one ends, which is told the address. */
export function listen(port: number, answer: RequestListener): void {
  const server = createServer({ keepAliveTimeout: 75_000 }, answer)
  server.listen(port, '127.0.0.1', () => {
    const bound = server.address() as AddressInfo
    process.send?.({ address: `http://127.0.0.1:${bound.port}` })
  })
  process.on('disconnect', () => process.exit(0))
}
