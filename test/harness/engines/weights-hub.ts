import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a request asked for, as far as a test wants to know it. */
export type HubRequest = {
  readonly method: string
  readonly path: string
  readonly range: string | null
  readonly ifRange: string | null
  readonly authorization: string | null
}

export type WeightsHub = {
  readonly address: string
  readonly requests: readonly HubRequest[]
  /** The GETs alone. */
  gets(): readonly HubRequest[]
  close(): Promise<void>
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

/** A server of files on the machine's own loopback. `answer` may do to a connection what it likes. */
export async function startWeightsHub(answer: Answer): Promise<WeightsHub> {
  const requests: HubRequest[] = []
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    requests.push({
      method,
      path: url,
      range: headers.range ?? null,
      ifRange: String(headers['if-range'] ?? '') || null,
      authorization: headers.authorization ?? null,
    })
    void answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    gets: () => requests.filter(({ method }) => method === 'GET'),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export type Sending = {
  readonly content: Buffer
  readonly etag?: string
  /** Bytes of the body after which the connection is destroyed. */
  readonly cutAfter?: number
  readonly ignoresRanges?: boolean
  readonly headers?: Readonly<Record<string, string>>
}

/** Answers as a good server of files does, ranges and all, until the connection is to be cut. */
export function sendFile(request: IncomingMessage, response: ServerResponse, sending: Sending): void {
  const { content, etag, cutAfter, ignoresRanges = false, headers = {} } = sending
  const start = ignoresRanges ? 0 : startOf(request, etag)
  const tag = etag === undefined ? {} : { etag }
  if (start > 0 && start >= content.length) {
    response.writeHead(416, { 'content-range': `bytes */${content.length}`, ...tag, ...headers }).end()
    return
  }
  const body = content.subarray(start)
  const range = start > 0 ? { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` } : {}
  response.writeHead(start > 0 ? 206 : 200, { 'content-length': body.length, ...range, ...tag, ...headers })
  if (request.method === 'HEAD') response.end()
  else if (cutAfter === undefined || cutAfter >= body.length) response.end(body)
  else response.write(body.subarray(0, cutAfter), () => response.destroy())
}

function startOf({ headers }: IncomingMessage, etag: string | undefined): number {
  const ifRange = headers['if-range']
  if (ifRange !== undefined && ifRange !== etag) return 0
  return Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0)
}

/** What a hub says of a large file before it leads on to where the file lies. */
export function linkedHeaders(content: Buffer): Record<string, string> {
  return { 'x-linked-etag': `"${sha256Of(content)}"`, 'x-linked-size': String(content.length) }
}

export function sha256Of(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}
