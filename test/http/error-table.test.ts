// Every status that the service answers today, in both formats, with its headers. The
// service has two slots, no queue and one request per key, so that full is quickly reached.

import { equal, match, ok } from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import {
  ask,
  bodyFor,
  formats,
  longAnswerBody,
  longMessages,
  paths,
  type Answer,
  type Format,
} from '../harness/http/ask.ts'
import { checkError, type ExpectedError } from '../harness/check-error.ts'
import { exchangeBytes, requestBytes, type Exchange } from '../harness/http/exchange-bytes.ts'
import { openFormatStream } from '../harness/http/open-stream.ts'
import { createKey } from '../harness/run-cli.ts'
import { readLedger, startService, until, type Service } from '../harness/start-service.ts'

const mebibyte = 1_024 * 1_024
const invalid = { status: 400, type: 'invalid_request_error', shouldRetry: 'false' } as const

let service: Service
/** Answers to senders that stop half-way, which take their time. */
let slow: Record<Format | 'head', Promise<Exchange>>

before(async () => {
  service = await startService({
    config: {
      engine: { slots: 2 },
      server: { waitingRequestsMax: 0 },
      limits: { concurrentRequestsPerKeyMax: 1 },
    },
  })
  // Each with a key of its own: a body that is still coming has the one place that its key has.
  const half = (path: string, key: string) =>
    `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-length: 100\r\n\r\n{"model":`
  slow = {
    chat: exchangeBytes(service, half(paths.chat, (await createKey(service, 'slow-chat')).key)),
    messages: exchangeBytes(service, half(paths.messages, (await createKey(service, 'slow-messages')).key)),
    head: exchangeBytes(service, 'GET /v1/models HTTP/1.1\r\nhost: x\r\nx-slow: '),
  }
})
after(async () => {
  equal(await service.stop(), 0)
})

/** No grammar can say what a condition does. */
const unkeepable = { type: 'object', properties: { a: { if: { const: 1 }, else: { const: 2 } } } }

/** Both formats' expectations of one fault; what is said of neither holds for both. */
type Row = {
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly chat?: Partial<ExpectedError>
  readonly messages?: Partial<ExpectedError>
}

async function checkInvalid(format: Format, { body, headers = {}, ...expected }: Row): Promise<void> {
  for (const isStream of [false, true]) {
    // Text is sent as it is; only an object can ask for a stream.
    const sent = isPlainObject(body) && isStream ? { ...body, stream: true } : body
    const answer = await ask(service, paths[format], { body: sent, headers })
    checkError(answer, format, { ...invalid, ...expected[format] })
  }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

function asAnswer({ status, head, body, bytes }: Exchange): Answer {
  const lines = head.split('\r\n').slice(1)
  const headers = new Headers(lines.map((line) => line.split(': ', 2) as [string, string]))
  return { status, headers, text: body, json: () => JSON.parse(body || bytes) as Record<string, unknown> }
}

for (const format of formats) {
  const path = paths[format]
  const post = (body: unknown, headers: Record<string, string> = {}) => ask(service, path, { body, headers })
  const text = (fields: Record<string, unknown> = {}) => JSON.stringify(bodyFor(format, fields))

  const url = 'https://example.com/a.png'
  const [inlineImage, linkedImage] =
    format === 'chat'
      ? ['data:image/png;base64,AAAA', url].map((address) => ({ type: 'image_url', image_url: { url: address } }))
      : [
          { type: 'base64', media_type: 'image/png', data: 'AAAA' },
          { type: 'url', url },
        ].map((source) => ({
          type: 'image',
          source,
        }))

  describe(`400 ${format}`, () => {
    const noJson: Record<string, string | Uint8Array> = {
      'nothing at all': '',
      'half of it': text().slice(0, -10),
      'a trailing comma': `${text().slice(0, -1)},}`,
      'no number': `{"model":"clarke-1.0","temperature":NaN}`,
      'two values': `${text()}${text()}`,
      'a byte order mark': Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), Buffer.from(text())]),
      'invalid UTF-8': Buffer.concat([Buffer.from('{"model":"'), Buffer.of(0xc3, 0x28), Buffer.from('"}')]),
      'an overlong character': Buffer.concat([Buffer.from('{"model":"'), Buffer.of(0xc0, 0xaf), Buffer.from('"}')]),
      'half a surrogate as bytes': Buffer.concat([
        Buffer.from('{"a":"'),
        Buffer.of(0xed, 0xa0, 0x80),
        Buffer.from('"}'),
      ]),
    }
    for (const [name, body] of Object.entries(noJson)) {
      test(`a body of ${name} is refused with 400: it is no JSON`, () =>
        checkInvalid(format, { body, chat: { code: null, param: null } }))
    }

    for (const body of ['null', '[]', '"text"', '5']) {
      test(`the body ${body} is refused with 400: it is no object`, () =>
        checkInvalid(format, { body, chat: { param: null } }))
    }

    const noImages = {
      chat: { param: 'messages[0].content[0].image_url', message: 'this model accepts text only' },
      messages: { message: 'messages.0.content.0.image: Could not process image: this model accepts text only' },
    }
    const without = (field: string) => JSON.parse(text({ [field]: undefined })) as unknown
    const rows: Record<string, Row> = {
      'no model': {
        body: without('model'),
        chat: { code: 'missing_required_parameter', param: 'model' },
        messages: { message: 'model: Field required' },
      },
      'no messages': {
        body: without('messages'),
        chat: { code: 'missing_required_parameter', param: 'messages' },
        messages: { message: 'messages: Field required' },
      },
      'a field of the wrong type': {
        body: bodyFor(format, { temperature: 'hot' }),
        chat: { code: 'invalid_type', param: 'temperature' },
        messages: { message: /^temperature: / },
      },
      'a number out of range': {
        body: bodyFor(format, { top_p: 1.5 }),
        chat: { code: 'invalid_value', param: 'top_p' },
        messages: { message: /^top_p: / },
      },
      'a fault deep inside': {
        body: bodyFor(format, { messages: [{ role: 'user', content: [{ type: 'text', text: 5 }] }] }),
        chat: { code: 'invalid_type', param: 'messages[0].content[0].text' },
        messages: { message: /^messages\.0\.content\.0\.(text\.)?text: / },
      },
      'an image': { body: bodyFor(format, { messages: [{ role: 'user', content: [inlineImage] }] }), ...noImages },
      'an image by its address': {
        body: bodyFor(format, { messages: [{ role: 'user', content: [linkedImage] }] }),
        ...noImages,
      },
      'a strict tool whose schema cannot be kept': {
        body: bodyFor(format, {
          tools:
            format === 'chat'
              ? [{ type: 'function', function: { name: 'look', strict: true, parameters: unkeepable } }]
              : [{ name: 'look', strict: true, input_schema: unkeepable }],
        }),
        chat: { code: 'unsupported_value', param: 'tools[0].function.parameters.properties.a.if' },
        messages: { message: /^tools\.0\.custom\.input_schema\.properties\.a.*if/ },
      },
      'structured output whose schema cannot be kept': {
        body: bodyFor(
          format,
          format === 'chat'
            ? { response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true, schema: unkeepable } } }
            : { output_config: { format: { type: 'json_schema', schema: unkeepable } } },
        ),
        chat: { code: 'unsupported_value', param: 'response_format.json_schema.schema.properties.a.if' },
        messages: { message: /^output_config\.format\.schema\.properties\.a.*if/ },
      },
    }
    for (const [name, row] of Object.entries(rows)) test(name, () => checkInvalid(format, row))

    test('a body nested 65 levels deep is refused with 400, one of 64 levels is not', async () => {
      const nested = (levels: number) => text().replace('{', `{"x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)},`)
      equal((await post(nested(64))).status, 200)
      checkError(await post(nested(65)), format, invalid)
      checkError(await post(nested(1_000_000)), format, invalid)
      checkError(await post('['.repeat(1_000_000)), format, invalid)
      checkError(await post('{"a":'.repeat(300_000)), format, invalid)
    })

    test('a body of 300,000 elements is refused with 400, one of 150,000 is not', async () => {
      const wide = (elements: number) => text().replace('{', `{"x":[${'0,'.repeat(elements)}0],`)
      equal((await post(wide(150_000))).status, 200)
      checkError(await post(wide(300_000)), format, invalid)
      const keys = Array.from({ length: 150_000 }, (_, index) => `"${index}":0`).join(',')
      checkError(await post(text().replace('{', `{"x":{${keys}},`)), format, invalid)
    })

    test('a content encoding that is not offered is refused', async () => {
      for (const encoding of ['br', 'deflate', 'zstd', 'gzip, gzip']) {
        const answer = await post(brotliCompressSync(text()), { 'content-encoding': encoding })
        checkError(answer, format, {
          ...invalid,
          code: 'unsupported_content_encoding',
          ...(format === 'messages' && { details: { error_code: 'request_body_encoding_unsupported' } }),
        })
      }
    })

    test('a gzip body that is none, or is cut, is refused with 400', async () => {
      for (const body of [Buffer.from('no gzip'), gzipSync(text()).subarray(0, 30)]) {
        checkError(await post(body, { 'content-encoding': 'gzip' }), format, invalid)
      }
    })

    test('a connection goes on after a refused body', async () => {
      const headers = { authorization: `Bearer ${service.key}` }
      const first = requestBytes('POST', path, { ...headers, connection: 'keep-alive' }, '{"model":')
      const { bytes } = await exchangeBytes(service, [first, requestBytes('GET', '/v1/models', headers)])
      const statuses = [...bytes.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status)
      equal(statuses.join(), '400,200')
    })

    test('a prompt beyond the window is told both numbers, and leaves no row', async () => {
      const messages = longMessages(33_000)
      const counting = { body: { model: 'clarke-1.0', messages } }
      const counted = (await ask(service, '/v1/messages/count_tokens', counting)).json()['input_tokens']
      ok(typeof counted === 'number' && counted > 32_768, String(counted))
      const wordings = {
        chat:
          `This model's maximum context length is 32768 tokens. However, your messages resulted in ${counted} tokens. ` +
          'Please reduce the length of the messages.',
        messages: `prompt is too long: ${counted} tokens > 32767 maximum`,
      }
      const rows = readLedger(service.home).length
      for (const stream of [false, true]) {
        checkError(await post(bodyFor(format, { messages, stream })), format, {
          ...invalid,
          code: 'context_length_exceeded',
          param: 'messages',
          message: wordings[format],
        })
      }
      equal(readLedger(service.home).length, rows, 'a refusal leaves no row')
    })
  })

  describe(`accepted ${format}`, () => {
    const answers = async (body: unknown, headers: Record<string, string> = {}) => {
      const answer = await post(body, headers)
      equal(answer.status, 200, answer.text)
      return answer
    }

    test('a gzip body is accepted', async () => {
      await answers(gzipSync(text()), { 'content-encoding': 'gzip' })
      await answers(gzipSync(text()), { 'content-encoding': 'GZIP' })
      await answers(text(), { 'content-encoding': 'identity' })
    })

    test('a body of any content type, and of none, is accepted', async () => {
      const types = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'nonsense', ';;/', '"']
      for (const type of types) await answers(text(), { 'content-type': type })
      const headers = { authorization: `Bearer ${service.key}` }
      equal((await exchangeBytes(service, requestBytes('POST', path, headers, text()))).status, 200)
    })

    test('an output limit far beyond the window is accepted', async () => {
      for (const max_tokens of [9_000_000, 2 ** 63]) await answers(bodyFor(format, { max_tokens }))
    })

    test('a tool result with an image by its address, which stays in the history, is answered', async () => {
      const call = { id: 'call_1', name: 'look' }
      const turns =
        format === 'chat'
          ? [
              {
                role: 'assistant',
                tool_calls: [{ id: call.id, type: 'function', function: { name: call.name, arguments: '{}' } }],
              },
              { role: 'tool', tool_call_id: call.id, content: [linkedImage] },
            ]
          : [
              { role: 'assistant', content: [{ type: 'tool_use', ...call, input: {} }] },
              { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: [linkedImage] }] },
            ]
      await answers(bodyFor(format, { messages: [{ role: 'user', content: 'Look' }, ...turns] }))
    })

    test('keys that reach for a prototype do nothing', async () => {
      const inherited = text().slice(0, -1)
      await answers(`${inherited},"__proto__":{"model":"none"},"constructor":{"prototype":{"stream":true}}}`)
      await answers(`${inherited},"metadata":{"__proto__":"x"}}`)
      const answer = await post(`{"__proto__":${text()}}`)
      checkError(answer, format, { ...invalid, code: 'missing_required_parameter' })
      const { headers } = await answers(text())
      match(headers.get('content-type') ?? '', /^application\/json/)
    })

    test('the last one of equal keys in a body wins', async () => {
      await answers(text().replace('{', '{"model":"none",'))
      equal((await post(`${text().slice(0, -1)},"model":"none"}`)).status, 404)
    })

    test('half a character counts as a replacement mark', async () => {
      const countOf = async (written: string) => {
        const body = text().replace('Hello', written)
        await answers(body)
        const counting = JSON.stringify({ ...(JSON.parse(text()) as object) }).replace('Hello', written)
        return (await ask(service, '/v1/messages/count_tokens', { body: counting })).json()['input_tokens']
      }
      equal(await countOf('a\\ud800b'), await countOf('a\ufffdb'))
    })
  })

  describe(`refused ${format}`, () => {
    test('401 without a key, before anything else is looked at', async () => {
      for (const body of [text(), '{"model":']) {
        checkError(await ask(service, path, { body, key: null }), format, {
          status: 401,
          type: format === 'chat' ? 'invalid_request_error' : 'authentication_error',
          code: 'invalid_api_key',
          param: null,
          message: 'Missing API key: send Authorization: Bearer <key> or x-api-key',
        })
      }
    })

    test('404 for an unknown model', async () => {
      const models = ['unheard-of', 'HAL-1.0', 'odyssey/hal-1.0', 'hal-1.0[1m]', 'hal-1', '']
      for (const model of models) {
        const messages = {
          chat:
            `The model \`${model}\` does not exist or you do not have access to it. ` +
            'Available models: hal-1.0, clarke-1.0, tycho-1.0.',
          messages: `model: ${model} (available models: hal-1.0, clarke-1.0, tycho-1.0)`,
        }
        checkError(await post(bodyFor(format, { model })), format, {
          status: 404,
          type: format === 'chat' ? 'invalid_request_error' : 'not_found_error',
          code: 'model_not_found',
          param: 'model',
          message: messages[format],
        })
      }
    })

    test("404 for another vendor's model says what takes its place", async () => {
      const places = { 'gpt-4o': 'clarke-1.0', 'claude-opus-4-8': 'hal-1.0', 'gpt-4o-mini': 'tycho-1.0' }
      for (const [model, place] of Object.entries(places)) {
        const { text: answered } = await post(bodyFor(format, { model }))
        match(answered, new RegExp(`in its place use ${place}`, 'i'))
      }
    })

    test('405 says which method there is', async () => {
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
        const answer = await ask(service, path, { method })
        const expected = { status: 405, type: 'invalid_request_error', code: 'method_not_supported' }
        checkError(answer, format, { ...expected, shouldRetry: 'false' })
        equal(answer.headers.get('allow'), 'POST')
      }
    })

    const tooLarge: ExpectedError = {
      status: 413,
      type: format === 'chat' ? 'invalid_request_error' : 'request_too_large',
      code: 'request_too_large',
      message:
        format === 'chat' ? 'Request body too large (limit 33554432 bytes).' : 'Request exceeds the maximum size',
      shouldRetry: 'false',
    }

    test('413 for 33 MiB of known length', async () => {
      checkError(await post(Buffer.alloc(33 * mebibyte, 0x20)), format, tooLarge)
    })

    test('413 for 33 MiB in chunks', async () => {
      const piece = new Uint8Array(mebibyte).fill(0x20)
      const body = ReadableStream.from(Array.from({ length: 33 }, () => piece))
      checkError(await post(body), format, tooLarge)
    })

    test('413 for a body that unpacks to more than 32 MiB', async () => {
      const bomb = gzipSync(Buffer.alloc(100 * mebibyte, 0x20))
      ok(bomb.length < mebibyte)
      checkError(await post(bomb, { 'content-encoding': 'gzip' }), format, {
        ...tooLarge,
        ...(format === 'messages' && { details: { error_code: 'request_body_too_large_after_decoding' } }),
      })
    })

    test('a body of 31 MiB is not too large', async () => {
      equal((await post(`${text()}${' '.repeat(31 * mebibyte)}`)).status, 200)
    })

    test('429 for one request too many of a key, 503 or 529 for one too many of all', async () => {
      const names = ['one', 'two', 'three']
      const [one, two, three] = await Promise.all(names.map((name) => createKey(service, `${name} ${format}`)))
      const body = longAnswerBody(format)
      const busy = []
      try {
        for (const { key } of [one!, two!]) {
          const stream = await openFormatStream({ ...service, key }, format, body)
          busy.push(stream)
          equal(stream.status, 200)
          ok(await stream.has(/"(role|message_start)"/))
        }
        for (const stream of [false, true]) {
          const asked = { body: bodyFor(format, { stream }) }
          checkError(await ask(service, path, { ...asked, key: one!.key }), format, {
            status: 429,
            type: 'rate_limit_error',
            code: 'rate_limit_exceeded',
          })
          checkError(await ask(service, path, { ...asked, key: three!.key }), format, {
            status: format === 'chat' ? 503 : 529,
            type: format === 'chat' ? 'service_unavailable_error' : 'overloaded_error',
            code: 'server_is_overloaded',
          })
        }
      } finally {
        for (const stream of busy) stream.leave()
      }
      const asked = { body: bodyFor(format), key: one!.key }
      await until(async () => (await ask(service, path, asked)).status === 200, 'The key stays busy.')
    })

    test('500 when the engine dies, and answers again soon', async () => {
      const [first, second] = await Promise.all([createKey(service, 'first'), createKey(service, 'second')])
      const body = longAnswerBody(format)
      const whole = ask(service, path, { body, key: first.key })
      const stream = await openFormatStream({ ...service, key: second.key }, format, body)
      ok(await stream.has(/"(role|message_start)"/))
      process.kill(await service.enginePid(), 'SIGKILL')
      checkError(await whole, format, {
        status: 500,
        type: format === 'chat' ? 'server_error' : 'api_error',
        code: 'internal_error',
        shouldRetry: null,
      })
      equal((await stream.ended).isWhole, false)
      await until(async () => (await ask(service, '/readyz')).status === 200, 'The engine does not come back.')
      equal((await post(text())).status, 200)
    })
  })
}

describe('routes of neither format', () => {
  test('a shared route answers 401 without a key', async () => {
    for (const path of ['/v1/models', '/v1/models/hal-1.0', '/v1/responses', '/v1/nothing', '/v1/models/unknown']) {
      checkError(await ask(service, path, { key: null }), 'shared', {
        status: 401,
        type: 'authentication_error',
        code: 'invalid_api_key',
      })
    }
  })

  test('the list of models answers 400 for a page that cannot be', async () => {
    for (const query of ['limit=0', 'limit=-1', 'limit=1001', 'limit=x', 'after_id=none', 'before_id=none']) {
      checkError(await ask(service, `/v1/models?${query}`), 'shared', {
        ...invalid,
        code: 'invalid_value',
        param: query.split('=')[0]!,
      })
    }
  })

  test('a model by its id answers 404 for an unknown one, however it is spelled', async () => {
    for (const id of ['gpt-4o', 'HAL-1.0', 'a%2Fb', '%E2%82%AC', 'm'.repeat(300)]) {
      checkError(await ask(service, `/v1/models/${id}`), 'shared', {
        status: 404,
        type: 'not_found_error',
        code: 'model_not_found',
        param: 'model',
      })
    }
  })

  test('a shared route answers 405 for another method', async () => {
    for (const path of ['/v1/models', '/v1/models/hal-1.0']) {
      const answer = await ask(service, path, { method: 'DELETE' })
      checkError(answer, 'shared', { status: 405, type: 'invalid_request_error', code: 'method_not_supported' })
      match(answer.headers.get('allow') ?? '', /\bGET\b/)
    }
  })

  test('an address that cannot be decoded is answered in the shared error format', async () => {
    const answer = await ask(service, '/v1/models/%zz')
    ok([400, 404].includes(answer.status))
    const type = answer.status === 400 ? 'invalid_request_error' : 'not_found_error'
    checkError(answer, 'shared', { status: answer.status, type })
  })
})

describe('counting', () => {
  const path = '/v1/messages/count_tokens'

  test('counting tokens has the errors of the messages format', async () => {
    const body = { model: 'clarke-1.0', messages: [{ role: 'user', content: 'Hello' }] }
    checkError(await ask(service, path, { body, key: null }), 'messages', { status: 401, type: 'authentication_error' })
    checkError(await ask(service, path, { body: { ...body, model: 'none' } }), 'messages', {
      status: 404,
      type: 'not_found_error',
      message: /^model: none /,
    })
    checkError(await ask(service, path, { body: { ...body, messages: 5 } }), 'messages', {
      ...invalid,
      message: /^messages: /,
    })
    checkError(await ask(service, path, { body: '{' }), 'messages', invalid)
    const wrongMethod = await ask(service, path)
    checkError(wrongMethod, 'messages', { status: 405, type: 'invalid_request_error' })
    equal(wrongMethod.headers.get('allow'), 'POST')
    const large = await ask(service, path, { body: Buffer.alloc(33 * mebibyte, 0x20) })
    checkError(large, 'messages', { status: 413, type: 'request_too_large' })
  })
})

describe('what is no proper HTTP', () => {
  const key = () => ({ authorization: `Bearer ${service.key}` })
  const cases: Record<string, { readonly sent: () => string; readonly status: readonly number[] }> = {
    'other words': { sent: () => 'GARBAGE\r\n\r\n', status: [400] },
    'a header line without an end': {
      sent: () => 'GET /v1/models HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n',
      status: [400],
    },
    'two lengths of one body': {
      sent: () =>
        `POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      status: [400],
    },
    'headers of 20 KB': {
      sent: () => requestBytes('GET', '/v1/models', { ...key(), x: 'a'.repeat(20_000) }),
      status: [431],
    },
    'an address of 20 KB': {
      sent: () => requestBytes('GET', `/v1/models?${'a'.repeat(20_000)}`, key()),
      status: [414, 431],
    },
    'no host': { sent: () => `GET /v1/models HTTP/1.1\r\nauthorization: Bearer ${service.key}\r\n\r\n`, status: [400] },
    'an unknown expectation': {
      sent: () => requestBytes('GET', '/v1/models', { ...key(), expect: 'the unexpected' }),
      status: [400, 417],
    },
  }
  for (const [name, { sent, status }] of Object.entries(cases)) {
    test(name, async () => {
      const exchange = await exchangeBytes(service, sent())
      ok(status.includes(exchange.status), exchange.bytes)
      checkError(asAnswer(exchange), 'shared', { status: exchange.status, type: 'invalid_request_error' })
    })
  }

  test('the service answers on after a connection was cut half-way', async () => {
    const { hostname, port } = new URL(service.address)
    for (const part of ['', 'POST', requestBytes('POST', '/v1/messages', key(), '{"model":"hal-1.0"}').slice(0, -5)]) {
      const socket = connect(Number(port), hostname)
      await new Promise((resolve) => socket.write(`${part} `, resolve))
      socket.destroy()
    }
    equal((await ask(service, '/healthz')).status, 200)
  })
})

describe('408', () => {
  for (const format of formats) {
    test(`a ${format} request gets 408 for a body that stops half-way`, async () => {
      checkError(asAnswer(await slow[format]), format, {
        status: 408,
        type: format === 'chat' ? 'timeout' : 'timeout_error',
        code: null,
      })
    })
  }

  test('a connection gets 408 for a head that stops half-way', async () => {
    checkError(asAnswer(await slow.head), 'shared', { status: 408, type: 'timeout_error' })
  })
})
