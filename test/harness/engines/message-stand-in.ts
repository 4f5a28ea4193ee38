// A server that takes messages, as Ollama or as any other with chat completions, whose answers a test writes down. What it
// sends has the keys of the recordings in test/fixtures/engines.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { ReportedKind } from '../../../src/engines/remote/dialect.ts'

/** One answer: what it says, piece by piece, and how it ends. */
export type Scripted = {
  readonly thinking?: readonly string[]
  readonly text?: readonly string[]
  readonly calls?: readonly { readonly name: string; readonly arguments: string }[]
  /** What it says of its end; by default what follows from the rest. */
  readonly reason?: string
  /** Instead of counts that are right. */
  readonly usage?: { readonly prompt?: number; readonly cached?: number; readonly output?: number } | null
}

export type MessageFault =
  | { readonly kind: 'status'; readonly status: number; readonly body?: string; readonly isOnce?: true }
  | { readonly kind: 'html' }
  /** The connection ends once so many bytes of an answer are sent. */
  | { readonly kind: 'cut'; readonly bytes: number }
  /** An error stands where the end should, with `[DONE]` behind it. */
  | { readonly kind: 'error-record' }
  | { readonly kind: 'hang' }

export type MessageStandIn = {
  readonly address: string
  readonly paths: string[]
  /** The bodies of all requests for an answer that is a stream. */
  readonly asked: Record<string, unknown>[]
  readonly running: number
  fault: MessageFault | null
  /** Between two records. */
  recordMs: number
  /** The answer to the request with this number, beginning with 0. */
  script: (body: Record<string, unknown>, number: number) => Scripted
  /** What a trial of a field of the request is refused for. */
  refuses: readonly string[]
  /** Whether its streams end with `[DONE]`. */
  sendsDone: boolean
  capabilities: readonly string[]
  close(): Promise<void>
}

const promptTokens = 16

export async function openMessageStandIn(kind: ReportedKind, port = 0): Promise<MessageStandIn> {
  let running = 0
  const standIn = {
    paths: [] as string[],
    asked: [] as Record<string, unknown>[],
    fault: null as MessageFault | null,
    recordMs: 0,
    script: (_body: Record<string, unknown>, _number: number): Scripted => ({ text: ['Hello', ' there', '.'] }),
    refuses: [] as readonly string[],
    sendsDone: true,
    capabilities: ['completion', 'tools', 'thinking', 'canary'] as readonly string[],
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?')[0] ?? ''
    standIn.paths.push(path)
    response.setHeader('server', 'canary').setHeader('x-canary', 'canary')
    const body = await readBody(request)
    if (path !== paths[kind]) return answerSmall(path, response)
    const refused = standIn.refuses.find((field) => body[field] !== undefined)
    if (refused !== undefined) return sendJson(response, { error: { message: `canary ${refused}` } }, 400)
    if (body['stream'] !== true) return sendJson(response, { choices: [], message: { content: 'canary' } })
    const { fault } = standIn
    const number = standIn.asked.push(body) - 1
    if (fault?.kind === 'hang') return
    if (fault?.kind === 'status' && fault.isOnce === true) standIn.fault = null
    if (fault?.kind === 'status')
      return void response
        .writeHead(fault.status, { 'content-type': 'application/json' })
        .end(fault.body ?? JSON.stringify({ error: { message: 'canary' } }))
    if (fault?.kind === 'html') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>canary')
    running += 1
    try {
      // What is asked for a single token is a trial, which no script is for.
      const isTrial =
        kind === 'ollama' ? (body['options'] as { num_predict: number }).num_predict === 1 : body['max_tokens'] === 1
      await stream(body, isTrial ? { text: ['Hello'], reason: 'length' } : standIn.script(body, number), response)
    } finally {
      running -= 1
    }
  }

  async function stream(body: Record<string, unknown>, scripted: Scripted, response: ServerResponse): Promise<void> {
    const voice = voices[kind]
    response.writeHead(200, { 'content-type': voice.contentType })
    const { fault } = standIn
    let left = fault?.kind === 'cut' ? fault.bytes : Infinity
    const all = voice.records(scripted, body)
    const records = fault?.kind === 'error-record' ? [...all.slice(0, -voice.endRecords), voice.error] : all
    for (const record of standIn.sendsDone ? [...records, ...voice.done] : records) {
      if (response.destroyed) return
      const bytes = Buffer.from(voice.frame(record))
      response.write(bytes.subarray(0, left))
      left -= bytes.length
      if (left <= 0) return void response.socket?.end()
      if (standIn.recordMs > 0) await new Promise((resolve) => setTimeout(resolve, standIn.recordMs))
    }
    response.end()
  }

  function answerSmall(path: string, response: ServerResponse): void {
    const { capabilities } = standIn
    const known: Record<string, unknown> = {
      '/v1/models': {
        object: 'list',
        data: [{ id: 'canary', root: 'canary', owned_by: 'canary', max_model_len: 4_096 }],
      },
      '/api/version': { version: '0.13.0' },
      '/api/tags': { models: [{ name: 'canary:latest', model: 'canary:latest', capabilities }] },
      '/api/ps': { models: [{ name: 'canary:latest', context_length: 4_096 }] },
    }
    sendJson(response, known[path] ?? { error: 'canary' }, known[path] === undefined ? 404 : 200)
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const bound = server.address()
  const at = typeof bound === 'object' && bound !== null ? bound.port : 0
  return Object.defineProperties(standIn as typeof standIn & MessageStandIn, {
    address: { value: `http://127.0.0.1:${at}` },
    running: { get: () => running },
    close: {
      value: () => {
        server.closeAllConnections()
        return new Promise<void>((resolve) => server.close(() => resolve()))
      },
    },
  })
}

const paths: Readonly<Record<ReportedKind, string>> = {
  ollama: '/api/chat',
  'chat-completions': '/v1/chat/completions',
}

/** How one kind of server writes an answer. */
type Voice = {
  readonly contentType: string
  readonly error: string
  readonly done: readonly string[]
  /** How many records at the end say that it is. */
  readonly endRecords: number
  frame(record: string): string
  records(scripted: Scripted, body: Record<string, unknown>): string[]
}

function countsOf({ thinking = [], text = [], calls = [], usage }: Scripted, body: Record<string, unknown>) {
  const output = thinking.length + text.length + calls.length
  const prompt = Math.max(promptTokens, Math.floor(JSON.stringify(body['messages']).length / 5))
  return { prompt, cached: 4, output, ...usage }
}

const voices: Readonly<Record<ReportedKind, Voice>> = {
  'chat-completions': {
    contentType: 'text/event-stream; charset=utf-8',
    error: JSON.stringify({ error: { message: 'canary', type: 'canary', code: 500 } }),
    done: ['[DONE]'],
    endRecords: 2,
    frame: (record) => (record.startsWith(':') ? `${record}\n\n` : `data: ${record}\n\n`),
    records(scripted, body) {
      const common = { id: 'canary', object: 'chat.completion.chunk', created: 1, model: 'canary' }
      const chunk = (delta: object, reason: string | null = null) =>
        JSON.stringify({
          ...common,
          choices: [{ index: 0, delta, logprobs: null, finish_reason: reason, matched_stop: 'canary' }],
          system_fingerprint: 'canary',
          timings: { canary: 1 },
        })
      const { thinking = [], text = [], calls = [] } = scripted
      const reason = scripted.reason ?? (calls.length > 0 ? 'tool_calls' : 'stop')
      const { prompt, cached, output } = countsOf(scripted, body)
      const usage = {
        prompt_tokens: prompt,
        total_tokens: prompt + output,
        completion_tokens: output,
        prompt_tokens_details: { cached_tokens: cached },
        canary: 'canary',
      }
      const asksUsage = (body['stream_options'] as { include_usage?: boolean } | undefined)?.include_usage === true
      return [
        ': canary',
        chunk({ role: 'assistant', content: '' }),
        ...thinking.map((piece) => chunk({ reasoning_content: piece, content: null })),
        ...text.map((piece) => chunk({ content: piece })),
        ...calls.flatMap(({ name, arguments: all }, index) => [
          chunk({ tool_calls: [{ index, id: 'canary', type: 'function', function: { name, arguments: '' } }] }),
          ...all.split(/(?<=,)/u).map((part) => chunk({ tool_calls: [{ index, function: { arguments: part } }] })),
        ]),
        chunk({}, reason),
        ...(scripted.usage === null || !asksUsage ? [] : [JSON.stringify({ ...common, choices: [], usage })]),
      ]
    },
  },
  ollama: {
    contentType: 'application/x-ndjson',
    error: JSON.stringify({ error: 'canary' }),
    done: [],
    endRecords: 1,
    frame: (record) => `${record}\n`,
    records(scripted, body) {
      const common = { model: 'canary', created_at: '2026-11-23T05:52:07Z' }
      const record = (message: object) =>
        JSON.stringify({ ...common, message: { role: 'assistant', content: '', ...message }, done: false })
      const { thinking = [], text = [], calls = [] } = scripted
      const { prompt, output } = countsOf(scripted, body)
      const counts = scripted.usage === null ? {} : { prompt_eval_count: prompt, eval_count: output }
      const last = {
        ...common,
        message: { role: 'assistant', content: '' },
        done: true,
        done_reason: scripted.reason ?? 'stop',
        total_duration: 1,
        ...counts,
      }
      return [
        ...thinking.map((piece) => record({ thinking: piece })),
        ...text.map((piece) => record({ content: piece })),
        ...calls.map(({ name, arguments: all }) =>
          record({ tool_calls: [{ id: 'canary', function: { name, arguments: JSON.parse(all) as object } }] }),
        ),
        JSON.stringify(last),
      ]
    },
  },
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = ''
  for await (const piece of request) text += String(piece)
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}

function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
