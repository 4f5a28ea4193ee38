// Every example of the catalogue of errors is what the service answers, in both formats, but for ids and numbers.

import { deepEqual, ok } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { ApiErrorCode } from '../../src/core/error.ts'
import { readErrorCatalogue } from '../../src/protocols/error-catalogue.ts'
import {
  ask,
  bodyFor,
  formats,
  longAnswerBody,
  longMessages,
  paths,
  type Answer,
  type Asking,
  type Format,
} from '../harness/http/ask.ts'
import { exchangeBytes } from '../harness/http/exchange-bytes.ts'
import { openFormatStream } from '../harness/http/open-stream.ts'
import { createKey, runCli, tryCli } from '../harness/run-cli.ts'
import { startService, until, type Service } from '../harness/start-service.ts'

type Told = { readonly status: number; readonly body: unknown }
type Provocation = (format: Format) => Promise<Told>

let service: Service
before(async () => {
  service = await startService({
    config: {
      engine: { slots: 2 },
      server: { waitingRequestsMax: 0 },
      limits: { concurrentRequestsPerKeyMax: 1 },
    },
  })
})
after(() => service.stop())

const toTold = ({ status, json }: Answer): Told => ({ status, body: json() })
const post = async (format: Format, asking: Asking) => toTold(await ask(service, paths[format], asking))
const send =
  (fields: Readonly<Record<string, unknown>>): Provocation =>
  (format) =>
    post(format, { body: bodyFor(format, fields) })
const image = (format: Format) =>
  format === 'chat'
    ? { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
    : { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
const tool = (format: Format) =>
  format === 'chat'
    ? { type: 'function', function: { name: 'look_up' } }
    : { name: 'look_up', input_schema: { type: 'object' } }

/** A key for one test, with what is set for it. */
async function keyWith(name: string, ...rules: readonly string[]): Promise<{ id: string; key: string }> {
  return JSON.parse(await runCli(service, 'keys', 'create', '--name', name, ...rules, '--json')) as {
    id: string
    key: string
  }
}

/** A key with a limit, and what it is told once that is in force. */
async function refusedBy(format: Format, body: Record<string, unknown>, ...limit: readonly string[]): Promise<Told> {
  const { id, key } = await keyWith(`limited ${format}`)
  await runCli(service, ...limit, '--key', id)
  return until(async () => {
    const told = await post(format, { body, key })
    return told.status === 429 ? told : null
  }, 'The limit is not in force.')
}

/** Runs while answers of two keys are under way, which is all that the engine has slots for. */
async function whileBusy<Result>(
  format: Format,
  run: (busy: string, idle: string) => Promise<Result>,
): Promise<Result> {
  const keys = await Promise.all(['one', 'two', 'idle'].map((name) => createKey(service, name)))
  const [one = '', two = '', idle = ''] = keys.map(({ key }) => key)
  const streams = []
  try {
    for (const key of [one, two]) {
      const stream = await openFormatStream({ ...service, key }, format, longAnswerBody(format))
      streams.push(stream)
      ok(await stream.has(/"(role|message_start)"/))
    }
    return await run(one, idle)
  } finally {
    for (const stream of streams) stream.leave()
    for (const key of [one, two]) {
      const asked = { body: bodyFor(format), key }
      await until(async () => (await ask(service, paths[format], asked)).status === 200, 'The key stays busy.')
    }
  }
}

const provocations: Readonly<Partial<Record<ApiErrorCode, readonly Provocation[]>>> = {
  'invalid-request': [
    send({ messages: undefined }),
    send({ messages: [{ role: 'user', content: 5 }] }),
    send({ temperature: 3 }),
    send({ grammar: 'root ::= "a"', mcp_servers: [{ type: 'url', name: 'x', url: 'https://x.example.com' }] }),
    send({ modalities: ['text', 'audio'], inference_geo: 'eu' }),
    (format) => post(format, { body: '{' }),
    send({ thread: {} }),
    (format) => post(format, { body: bodyFor(format, { tools: [tool(format), tool(format)] }) }),
  ],
  'unsupported-feature': [
    (format) => post(format, { body: bodyFor(format, { messages: [{ role: 'user', content: [image(format)] }] }) }),
  ],
  'unsupported-encoding': [
    (format) => post(format, { body: brotliCompressSync('{}'), headers: { 'content-encoding': 'br' } }),
  ],
  'context-exceeded': [(format) => post(format, { body: bodyFor(format, { messages: longMessages(33_000) }) })],
  unauthenticated: [
    (format) => post(format, { body: bodyFor(format), key: null }),
    (format) => post(format, { body: bodyFor(format), key: null, headers: { 'x-api-key': 'sk-ody-of-nobody-at-all' } }),
  ],
  'permission-denied': [
    async (format) => {
      const { key } = await keyWith('confined', '--models', 'clarke-1.0')
      return post(format, { body: bodyFor(format, { model: 'hal-1.0' }), key })
    },
  ],
  'model-not-found': [send({ model: 'gpt-4o' })],
  'unsupported-endpoint': [
    async (format) => {
      const path = format === 'chat' ? '/v1/chat/completions/chatcmpl-1' : '/v1/messages/batches'
      return toTold(await ask(service, path))
    },
  ],
  'unknown-url': [
    async (format) => toTold(await ask(service, format === 'chat' ? '/v1/chat/nothing' : '/v1/messages/nothing')),
  ],
  'method-not-allowed': [(format) => post(format, { method: 'GET' })],
  'request-timeout': [
    async (format) => {
      const { key } = await createKey(service, 'slow')
      const half = `POST ${paths[format]} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-length: 100\r\n\r\n{"model":`
      const { status, body, bytes } = await exchangeBytes(service, half)
      return { status, body: JSON.parse(body || bytes) }
    },
  ],
  'request-too-large': [
    (format) => post(format, { body: Buffer.alloc(33 * 1_048_576, 0x20) }),
    (format) =>
      post(format, { body: gzipSync(Buffer.alloc(100 * 1_048_576, 0x20)), headers: { 'content-encoding': 'gzip' } }),
  ],
  'rate-limited': [
    (format) =>
      refusedBy(format, bodyFor(format, { messages: longMessages(60) }), 'limits', 'set', '--input-tokens', '100'),
    (format) =>
      refusedBy(format, bodyFor(format, { messages: longMessages(200) }), 'limits', 'set', '--input-tokens', '100'),
    (format) => whileBusy(format, (busy) => post(format, { body: bodyFor(format), key: busy })),
  ],
  'budget-exceeded': [
    (format) => refusedBy(format, bodyFor(format), 'budgets', 'set', '--period', 'month', '--tokens', '10'),
  ],
  'engine-failed': [
    async (format) => {
      const [first, second] = await Promise.all([createKey(service, 'first'), createKey(service, 'second')])
      const whole = post(format, { body: longAnswerBody(format), key: first.key })
      const stream = await openFormatStream({ ...service, key: second.key }, format, longAnswerBody(format))
      ok(await stream.has(/"(role|message_start)"/))
      process.kill(await service.enginePid(), 'SIGKILL')
      const told = await whole
      await stream.ended
      await until(async () => (await ask(service, '/readyz')).status === 200, 'The engine does not come back.')
      return told
    },
  ],
  overloaded: [(format) => whileBusy(format, (_busy, idle) => post(format, { body: bodyFor(format), key: idle }))],
}

/** What is answered by the management API alone, and so by commands. */
const commands: Readonly<Partial<Record<ApiErrorCode, readonly string[]>>> = {
  'not-found': ['keys', 'revoke', 'key_none'],
  conflict: ['roles', 'create', '--name', 'Twice', '--base', 'admin', '--permissions', 'usage:read'],
}

/** What of an answer is not of this one alone. */
function normalized({ status, body }: Told): unknown {
  const text = JSON.stringify(body)
    .replaceAll(/req_\w+/g, 'req_')
    .replaceAll(/sk-od\*+\w+/g, 'sk-od')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\b(?:\d+(?:\.\d+)?(?:ms|[smh]))+\b/g, 'DURATION')
    .replaceAll(/\d+(?:[.,]\d+)*/g, 'N')
  return { status, body: JSON.parse(text.replaceAll(/:N/g, ':0')) as unknown }
}

describe('the examples of the catalogue of errors', () => {
  for (const { code, examples } of readErrorCatalogue()) {
    if (code in commands || code === 'internal') continue
    for (const [at, example] of examples.entries()) {
      for (const format of formats) {
        const shown = format === 'chat' ? example.chatCompletions : example.messages
        if (shown === null) continue
        test(`${code}, ${at + 1}, is what the service answers: ${format}`, async () => {
          const provoke = provocations[code]?.[at]
          ok(provoke !== undefined, 'Nobody knows how to bring this answer about.')
          const { status, body } = shown
          deepEqual(normalized(await provoke(format)), normalized({ status, body }))
        })
      }
    }
  }

  test('what the formats never answer has the words of the management API', async () => {
    for (const [code, command] of Object.entries(commands)) {
      const [example] = readErrorCatalogue().find((error) => error.code === code)?.examples ?? []
      const body = example?.messages?.body as { readonly error: { readonly message: string } }
      await tryCli(service, ...command)
      const { stderr } = await tryCli(service, ...command)
      ok(stderr.includes(body.error.message), stderr)
    }
  })

  test('a fault of the service is told as one of the engine is: nothing of either leaves it', () => {
    const [engine, own] = ['engine-failed', 'internal'].map((wanted) =>
      readErrorCatalogue().find(({ code }) => code === wanted),
    )
    deepEqual(own?.examples, engine?.examples)
  })
})
