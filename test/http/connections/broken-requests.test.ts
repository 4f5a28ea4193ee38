// Requests that break off or are wrong on the wire: each is answered, in the format of its route.

import { equal, match, ok } from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { checkErrorResponse } from '../../campaigns/bodies/error-bodies.ts'
import { createResponseReader, type RawResponse } from '../../campaigns/response-reader.ts'
import { bodyFor } from '../../harness/http/ask.ts'
import { startFakeService, type FakeService } from '../../harness/fake-service.ts'
import { until } from '../../harness/start-service.ts'

let service: FakeService
let isHeld = false

before(async () => {
  service = await startFakeService({
    script: () => [{ kind: 'end', reason: { kind: 'end' } }],
    startsAfter: () => (isHeld ? new Promise(() => {}) : Promise.resolve()),
  })
})
after(async () => {
  service.app.server.closeAllConnections()
  await service.close()
})

const shapes = { '/v1/chat/completions': 'chat', '/v1/messages': 'messages' } as const

/** Sends bytes, ends its side if asked to, and reads until the service closes its own. */
function send(text: string | Buffer, isHalfClosed: boolean): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(service.address)
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    const reader = createResponseReader()
    socket.setTimeout(20_000, () => socket.destroy(new Error('The service neither answered nor closed.')))
    socket.on('data', (piece: Buffer) => {
      reader.feed(piece)
      // One that is kept alive is closed from here.
      if (reader.response.isComplete) socket.end()
    })
    socket.on('error', reject)
    socket.on('end', () => socket.end())
    socket.on('close', () => resolve(reader.response))
    socket.write(text)
    if (isHalfClosed) socket.end()
  })
}

const head = (path: string, ...fields: string[]) =>
  [`POST ${path} HTTP/1.1`, 'host: x', `authorization: Bearer ${service.key}`, ...fields, '', ''].join('\r\n')

for (const [path, shape] of Object.entries(shapes)) {
  describe(`${path} answers 400, in its own format,`, () => {
    const chunked = () => head(path, 'transfer-encoding: chunked')
    const cases: readonly [name: string, text: () => string, isHalfClosed: boolean][] = [
      ['where a chunk has no size', () => `${chunked()}zz\r\nabc\r\n`, false],
      ['where a chunk is longer than it says', () => `${chunked()}2\r\nabcdef\r\n0\r\n\r\n`, false],
      ['where a chunk has far too long an extension', () => `${chunked()}2;${'a'.repeat(20_000)}\r\nab\r\n`, false],
      ['where a chunk breaks off', () => `${chunked()}5\r\nab`, true],
      ['where the last chunk is missing', () => `${chunked()}2\r\nab\r\n`, true],
      ['where the trailers are too long', () => `${chunked()}2\r\n{}\r\n0\r\n${'a: b\r\n'.repeat(5_000)}\r\n`, false],
      ['where the body breaks off', () => `${head(path, 'content-length: 100')}{"a":`, true],
      ['where the body does not begin', () => head(path, 'content-length: 100'), true],
    ]
    for (const [name, text, isHalfClosed] of cases) {
      test(name, async () => {
        const response = await send(text(), isHalfClosed)
        equal(response.status, 400, response.text)
        checkErrorResponse(response, shape)
        equal(response.headers.get('connection'), 'close')
      })
    }

    for (const stream of [false, true]) {
      test(`${path} answers 400 where the client ends its side before its answer begins, ${stream ? 'streamed' : 'whole'}`, async () => {
        isHeld = true
        const body = JSON.stringify(bodyFor(shape, { stream }))
        const response = await send(head(path, `content-length: ${body.length}`) + body, true)
        isHeld = false
        equal(response.status, 400, response.text)
        match(response.text, /closed for sending/)
        checkErrorResponse(response, shape)
        await until(() => service.engine.status().running === 0, 'The engine works on.')
      })
    }
  })
}

test('a half-closed connection gets an answer that needs no engine', async () => {
  const response = await send(`GET /v1/models HTTP/1.1\r\nhost: x\r\nx-api-key: ${service.key}\r\n\r\n`, true)
  equal(response.status, 200)
  ok(response.isComplete)
})

test('two Host headers are refused, also where they are the same', async () => {
  for (const [path, shape] of [...Object.entries(shapes), ['/v1/models', 'shared'] as const]) {
    for (const host of ['host: y', 'HOST: x']) {
      const response = await send(head(path, host, 'content-length: 2') + '{}', false)
      equal(response.status, 400)
      match(response.text, /two Host headers/)
      checkErrorResponse(response, shape)
    }
  }
})

test('bytes after a broken request on its connection are not taken for a request', async () => {
  const body = JSON.stringify(bodyFor('chat'))
  const good = head('/v1/chat/completions', `content-length: ${body.length}`) + body
  const response = await send(`${head('/v1/messages', 'transfer-encoding: chunked')}zz\r\n${good}${good}`, false)
  equal(response.status, 400)
  equal(response.fault, null)
  checkErrorResponse(response, 'messages')
})

test('a broken request behind one that is being answered cuts the connection', async () => {
  isHeld = true
  const body = JSON.stringify(bodyFor('chat'))
  const good = head('/v1/chat/completions', `content-length: ${body.length}`) + body
  const response = await send(`${good}\0\0garbage\r\n\r\n`, false)
  isHeld = false
  equal(response.status, null)
})

describe('a packed body', () => {
  const post = (packed: Buffer, encoding = 'gzip') =>
    send(
      Buffer.concat([
        Buffer.from(head('/v1/messages', `content-encoding: ${encoding}`, `content-length: ${packed.length}`)),
        packed,
      ]),
      false,
    )
  const text = JSON.stringify(bodyFor('messages'))

  test('a gzip body that unpacks to more than a hundred times its size is refused', async () => {
    const packed = gzipSync(JSON.stringify(bodyFor('messages', { system: ' '.repeat(20_000_000) })))
    const response = await post(packed)
    equal(response.status, 413)
    match(response.text, /too_large_after_decoding/)
    checkErrorResponse(response, 'messages')
  })

  test('a small gzip body is taken however well it packs', async () => {
    const packed = gzipSync(JSON.stringify(bodyFor('messages', { system: 'word '.repeat(100_000) })))
    equal((await post(packed)).status, 200)
  })

  test('a gzip body of several members is one text', async () => {
    const packed = Buffer.concat([gzipSync(text.slice(0, 9)), gzipSync(''), gzipSync(text.slice(9))])
    equal((await post(packed)).status, 200)
  })

  test('a gzip body of many empty members is refused', async () => {
    const packed = Buffer.concat(Array.from({ length: 20_000 }, () => gzipSync('')))
    equal((await post(packed)).status, 400)
  })

  test('a gzip body that breaks off is refused', async () => {
    equal((await post(gzipSync(text).subarray(0, -9))).status, 400)
  })

  test('a body that is packed twice, or another way, is refused', async () => {
    for (const encoding of ['gzip, gzip', 'gzip, identity', 'br', 'deflate', 'zstd', 'x-gzip']) {
      equal((await post(gzipSync(gzipSync(text)), encoding)).status, 400, encoding)
    }
    equal((await post(gzipSync(gzipSync(text)))).status, 400)
  })
})

test('a body of very many tiny chunks is refused before it is all there', async () => {
  const chunks = '1\r\n \r\n'.repeat(200_000)
  const response = await send(head('/v1/messages', 'transfer-encoding: chunked') + chunks, false)
  equal(response.status, 400)
  match(response.text, /small pieces/)
})

test('a body on a request that takes none keeps nobody waiting', async () => {
  const response = await send(
    `GET /v1/models HTTP/1.1\r\nhost: x\r\nx-api-key: ${service.key}\r\ncontent-length: 1000\r\n\r\n{`,
    false,
  )
  equal(response.status, 200)
  equal(response.headers.get('connection'), 'close')
})
