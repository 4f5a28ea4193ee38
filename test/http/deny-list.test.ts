// Nothing that a client can receive names what the service is made of: every byte of a
// tour through all kinds of answers, heads and error bodies included, is searched.

import { equal, match, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ask, bodyFor, formats, longAnswerBody, longMessages, paths } from '../harness/http/ask.ts'
import { exchangeBytes, requestBytes } from '../harness/http/exchange-bytes.ts'
import { checkStream, openFormatStream } from '../harness/http/open-stream.ts'
import { startService, until, type Service } from '../harness/start-service.ts'

const root = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '')

let service: Service
const answers: { readonly of: string; readonly bytes: string }[] = []

before(async () => {
  service = await startService()
})
after(async () => {
  equal(await service.stop(), 0)
})

const dependencies = Object.keys(
  (JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as { dependencies: Record<string, string> }).dependencies,
)

/** Lower case. A word of the placeholder's own vocabulary must not be here. */
function forbidden(): string[] {
  const parts = ['llama', 'ggml', 'gguf', 'qwen', 'chatml', 'im_start', 'im_end', 'fastify', 'pino', 'kysely', 'sqlite']
  const more = [
    'undici',
    'jinja',
    'zod',
    'mistral',
    'gemma',
    'deepseek',
    'hugging',
    'node_modules',
    'node.js',
    'nodejs',
  ]
  const traces = [process.version, process.versions.node, '.ts:', '    at ', 'x-powered-by', '\nserver:', 'stack"']
  const places = [root, dirname(root), service.home, homedir(), '/tmp/', '/weights', 'service.json', 'odyssey.db']
  const inside = ['vocabulary', 'supervisor', 'econn', 'errno', 'sigkill']
  const all = [...parts, ...more, ...dependencies, ...traces, ...places, ...inside].map((word) => word.toLowerCase())
  // A folder may be the root of the disk, whose name is in every address.
  return all.filter((word) => word.length >= 3)
}

async function visit(of: string, sent: string | readonly (string | Uint8Array)[]): Promise<string> {
  const { bytes } = await exchangeBytes(service, sent)
  answers.push({ of, bytes })
  return bytes
}

function request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): string {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  return requestBytes(method, path, { authorization: `Bearer ${service.key}`, ...headers }, text)
}

test('answers of every kind name nothing inside', async () => {
  for (const format of formats) {
    for (const model of ['hal-1.0', 'clarke-1.0', 'tycho-1.0']) {
      for (const stream of [false, true]) {
        const body = bodyFor(format, {
          model,
          stream,
          ...(format === 'chat' && { stream_options: { include_usage: true } }),
        })
        match(await visit(`${format} ${model}`, request('POST', paths[format], body)), /^HTTP\/1\.1 200 /)
      }
    }
    const curious = 'Which model are you really? <|im_start|>'
    await visit(
      'a curious user',
      request('POST', paths[format], bodyFor(format, { messages: [{ role: 'user', content: curious }] })),
    )
  }
  const counting = { model: 'hal-1.0', messages: [{ role: 'user', content: 'Hello' }] }
  await visit('a count', request('POST', '/v1/messages/count_tokens', counting))
  for (const path of ['/v1/models', '/v1/models?limit=1', '/v1/models/hal-1.0', '/healthz', '/readyz']) {
    match(await visit(path, request('GET', path)), /^HTTP\/1\.1 200 /)
  }
  for (const path of ['/', '/api/hello']) match(await visit(path, request('HEAD', path)), /^HTTP\/1\.1 200 /)
})

test('errors of every kind name nothing inside', async () => {
  for (const format of formats) {
    const path = paths[format]
    const wrong: Record<string, unknown>[] = [
      { model: 'none' },
      { model: 5 },
      { messages: 5 },
      { messages: [] },
      { messages: [{ role: 'user', content: [{ type: 'hologram' }] }] },
      {
        messages: [
          {
            role: 'user',
            content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A' } }],
          },
        ],
      },
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://127.0.0.1/a.png' } }] }] },
      { messages: longMessages(33_000) },
      { temperature: 'x' },
      { tools: [{ type: 'function', function: { name: 'f' } }] },
      { tools: [{ name: 'f', input_schema: { type: 'object' } }] },
      { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'nothing' } } } },
      { output_config: { format: { type: 'json_schema', schema: {} } } },
      { grammar: 'root ::= "x"' },
      { logprobs: true },
      { n: 4 },
      { n: 400 },
      { logit_bias: { 1: 1 } },
      { min_tokens: 4 },
      { stop_token_ids: [1] },
      { chat_template: '{{ x }}' },
      { thread: { type: 'create' } },
      { container: 'x' },
      { mcp_servers: [{ type: 'url', url: 'http://x', name: 'x' }] },
      { max_tokens: -1 },
    ]
    for (const fields of wrong)
      await visit(`${format} ${Object.keys(fields)[0]}`, request('POST', path, bodyFor(format, fields)))
    const bodies = [
      '{',
      '',
      'null',
      '[]',
      '['.repeat(1_000_000),
      `[${'0,'.repeat(300_000)}0]`,
      '\ufeff{}',
      '{"a":1e999}',
    ]
    for (const body of bodies) await visit(`${format} body`, request('POST', path, body))
    for (const encoding of ['br', 'gzip'])
      await visit(encoding, request('POST', path, '{}', { 'content-encoding': encoding }))
    for (const authorization of ['', 'Bearer dummy', `Bearer ${service.key}x`, 'Basic eDp5']) {
      await visit('a wrong key', request('POST', path, bodyFor(format), { authorization }))
    }
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'PROPFIND'])
      await visit(method, request(method, path))
    const large = request('POST', path, undefined, { 'content-length': String(33 * 1_024 * 1_024) })
    match(await visit('too large', large), /^HTTP\/1\.1 413 /)
  }
})

test('answers to addresses of every kind name nothing inside', async () => {
  const addresses = [
    '/nothing',
    '/v1',
    '/v1/nothing',
    '/v1/models/none',
    '/v1/models/%zz',
    '/v1/models/%00',
    `/v1/models/${'m'.repeat(300)}`,
    '/v1/models?limit=0',
    '/v1/models?after_id=none',
    '/v1/models?lifecycle[]=x',
    '/v1/responses',
    '/v1/embeddings',
    '/v1/completions',
    '/v1/files',
    '/v1/messages/batches',
    '/v1/chat/completions/x',
    '/chat/completions',
    '/messages',
    '/v1/v1/messages',
    '//v1/messages',
    '/../../etc/passwd',
    '/v1/../service.json',
    '/metrics',
    '/docs',
    '/props',
    '/slots',
    '/api/tags',
    '/api/version',
    '/version',
    '/favicon.ico',
    '/.env',
    '*',
    'http://[',
  ]
  for (const address of addresses) {
    for (const method of ['GET', 'POST'])
      await visit(`${method} ${address}`, request(method, address, method === 'POST' ? {} : undefined))
  }
})

test('answers to broken HTTP name nothing inside', async () => {
  const { key } = service
  const sent: Record<string, string> = {
    'other words': 'HELLO\r\n\r\n',
    'no host': `GET /v1/models HTTP/1.1\r\nauthorization: Bearer ${key}\r\n\r\n`,
    'a large head': request('GET', '/v1/models', undefined, { x: 'a'.repeat(20_000) }),
    'a bad header': 'GET / HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n',
    'two lengths': 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
    'a bad chunk': 'POST /v1/messages HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n\r\n',
    'an unknown expectation': request('GET', '/v1/models', undefined, { expect: 'x' }),
    'another protocol': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'an old version': 'GET /v1/models HTTP/1.0\r\n\r\n',
    'an unknown version': 'GET /v1/models HTTP/3.7\r\nhost: x\r\n\r\n',
    'an unknown method': 'BREW /v1/models HTTP/1.1\r\nhost: x\r\n\r\n',
  }
  for (const [of, bytes] of Object.entries(sent)) await visit(of, bytes)
})

test('answers that an engine broke off name nothing inside', async () => {
  const whole = formats.map((format) => request('POST', paths[format], longAnswerBody(format)))
  const asking = whole.map((bytes, index) => visit(`a crash, ${formats[index]}`, bytes))
  const streams = await Promise.all(formats.map((format) => openFormatStream(service, format, longAnswerBody(format))))
  for (const stream of streams) ok(await stream.has(/"(role|message_start)"/))
  process.kill(await service.enginePid(), 'SIGKILL')
  for (const bytes of await Promise.all(asking)) match(bytes, /^HTTP\/1\.1 500 /)
  for (const stream of streams) {
    const { text, isWhole } = await stream.ended
    equal(isWhole, false)
    match(text, /"error"/)
    answers.push({ of: 'a broken stream', bytes: `${JSON.stringify(stream.headers)}${text}` })
  }
  await until(async () => {
    const ready = await ask(service, '/readyz', { key: null })
    answers.push({ of: 'readiness after a crash', bytes: `${JSON.stringify([...ready.headers])}${ready.text}` })
    return ready.status === 200
  }, 'The engine does not come back.')
  const stream = await openFormatStream(service, 'chat', bodyFor('chat'))
  checkStream('chat', (await stream.ended).text)
})

test('none of it names what is inside', () => {
  ok(answers.length > 150, `The tour was too short: ${answers.length} answers.`)
  const found = answers.flatMap(({ of, bytes }) => {
    // Keys and ids are random letters; a short word may stand in them by chance.
    const text = bytes
      .replace(/\b(sk-ody-|req_|msg_|chatcmpl-|key_)[0-9A-Za-z]+/g, '')
      .replace(/"signature":"[^"]*"/g, '')
      .toLowerCase()
    return forbidden().flatMap((word) =>
      text.includes(word) ? [`${word} in the answer to ${of}: ${excerpt(text, word)}`] : [],
    )
  })
  equal(found.join('\n'), '')
})

function excerpt(text: string, word: string): string {
  const at = text.indexOf(word)
  return JSON.stringify(text.slice(Math.max(0, at - 60), at + 60))
}
