import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type AnsweredCall = {
  readonly method: string
  readonly path: string
  readonly authorization: string | null
  readonly apiKey: string | null
  readonly version: string | null
  readonly body: Readonly<Record<string, unknown>>
}

export type AnsweringServer = {
  readonly address: string
  /** The POSTs since the last `clear`. */
  readonly calls: AnsweredCall[]
  close(): Promise<void>
}

const answers: Readonly<Record<string, unknown>> = {
  '/v1/chat/completions': {
    object: 'chat.completion',
    choices: [{ message: { role: 'assistant', content: 'Hello.' } }],
  },
  '/v1/messages': { type: 'message', content: [{ type: 'text', text: 'Hello.' }] },
}

/** Answers both wire formats to anyone and keeps what it was sent; `models` is its list of models, if it has one. */
export async function startAnsweringServer(models: unknown = null): Promise<AnsweringServer> {
  const calls: AnsweredCall[] = []
  const server = createServer((request, response) => void answer(request, response))
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request
    const text = Buffer.concat(await request.toArray()).toString('utf8')
    const header = (name: string) => String(headers[name] ?? '') || null
    if (method === 'POST') {
      calls.push({
        method,
        path: url,
        authorization: header('authorization'),
        apiKey: header('x-api-key'),
        version: header('anthropic-version'),
        body: JSON.parse(text) as Record<string, unknown>,
      })
    }
    const body = url === '/v1/models' ? models : (answers[url.split('?', 1)[0] ?? ''] ?? null)
    response.writeHead(body === null ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? { error: { message: 'There is nothing here.' } }))
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
