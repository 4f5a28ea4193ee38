import { createServer, type Server } from 'node:http'
import type { Metrics } from '../telemetry/metrics.ts'

/** A door of its own for Prometheus, so that no client of the service can ever reach it. */
export type MetricsServer = { readonly address: string; close(): Promise<void> }

export async function startMetricsServer(
  metrics: Metrics,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    const isWanted = request.method === 'GET' && request.url?.split('?', 1)[0] === '/metrics'
    if (!isWanted) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('The numbers are at GET /metrics.\n')
      return
    }
    metrics.expose().then(
      ({ contentType, text }) => response.writeHead(200, { 'content-type': contentType }).end(text),
      () => response.writeHead(500).end(),
    )
  })
  await listen(server, host, port)
  const address = server.address()
  const actualPort = typeof address === 'object' && address !== null ? address.port : port
  return {
    address: `http://${host.includes(':') ? `[${host}]` : host}:${actualPort}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
