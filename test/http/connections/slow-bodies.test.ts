// Who may keep a body open, and for how long: raw sockets against the whole door, whose clock a test moves.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createApiKey, revokeApiKey } from '../../../src/accounts/api-keys.ts'
import { RawConnection, authorize, toBytes } from '../../campaigns/raw-http.ts'
import { checkErrorResponse } from '../../campaigns/bodies/error-bodies.ts'
import { bodyFor } from '../../harness/http/ask.ts'
import { startFakeService, type FakeService } from '../../harness/fake-service.ts'
import { until } from '../../harness/start-service.ts'

let service: FakeService

before(async () => {
  service = await startFakeService({})
})
after(() => service.close())

const shapes = { '/v1/chat/completions': 'chat', '/v1/messages': 'messages' } as const
const paths = Object.keys(shapes) as (keyof typeof shapes)[]

type Headers = readonly (readonly [string, string])[]

/** The head of a request whose body is still to come. */
const head = (path: string, headers: Headers, length = 1_000) =>
  toBytes({ path, headers: [['content-length', String(length)], ...headers], body: '' })

async function openBody(path: string, headers: Headers): Promise<RawConnection> {
  const connection = new RawConnection(service.address)
  await connection.send(head(path, headers))
  return connection
}

/** Sends a byte now and then, as long as it is let. */
async function drip(connection: RawConnection, everyMs: number, forMs: number): Promise<number> {
  for (let passedMs = 0; passedMs < forMs; passedMs += everyMs) {
    if (connection.isClosed) return passedMs
    await connection.send(Buffer.from(' '))
    await new Promise((resolve) => setTimeout(resolve, 5))
    service.clock.advance(everyMs)
  }
  return forMs
}

test('the time limits are in force on the server that listens', () => {
  const { server } = service.app
  const { requestTimeout, headersTimeout, keepAliveTimeout, timeout } = server
  deepEqual(
    { requestTimeout, headersTimeout, keepAliveTimeout, timeout },
    { requestTimeout: 120_000, headersTimeout: 10_000, keepAliveTimeout: 75_000, timeout: 90_000 },
  )
})

describe('a body of one byte every 3 seconds', () => {
  for (const path of paths) {
    test(`a slow body to ${path} with a key is answered with 408 and cut`, async () => {
      const connection = await openBody(path, authorize(service.key))
      const openMs = await drip(connection, 3_000, 60_000)
      ok(await connection.until(({ isComplete }) => isComplete), 'There is no answer.')
      equal(connection.response.status, 408)
      equal(connection.response.headers.get('connection'), 'close')
      checkErrorResponse(connection.response, shapes[path])
      ok(openMs <= 30_000, `It was open for ${openMs} ms.`)
      ok(await until(() => connection.isClosed, 'It stays open.'))
    })

    test(`a slow body to ${path} without a valid key is answered with 401 before it comes, and cut`, async () => {
      for (const headers of [[], authorize('sk-ody-unknown')]) {
        const connection = await openBody(path, headers)
        ok(await connection.until(({ isComplete }) => isComplete), 'There is no answer.')
        equal(connection.response.status, 401)
        checkErrorResponse(connection.response, shapes[path])
        // The client's library has closed its side when it saw the end of the server's.
        ok(await until(() => connection.isClosed, 'It stays open.'))
      }
    })
  }

  test('a slow body whose key is revoked meanwhile is answered with 401 and cut', async () => {
    const { accounts, home } = service
    const { key, id } = await createApiKey(accounts, { kind: 'operator' }, { name: 'short', ...home })
    const connection = await openBody('/v1/messages', authorize(key))
    await connection.send(Buffer.from('{"model":'))
    await new Promise((resolve) => setTimeout(resolve, 100))
    await revokeApiKey(accounts, { kind: 'operator' }, { ...home, id })
    ok(await connection.until(({ isComplete }) => isComplete), 'There is no answer.')
    equal(connection.response.status, 401)
    match(connection.response.text, /Invalid bearer token/)
    ok(await until(() => connection.isClosed, 'It stays open.'))
  })
})

describe('what the head is enough to refuse', () => {
  const long = ['content-length', '5000'] as const
  const cases: readonly [name: string, status: number, path: string, headers: () => Headers][] = [
    ['an unknown key', 401, '/v1/messages', () => [long, ...authorize('sk-ody-nobody')]],
    ['an unknown path', 404, '/v1/nothing', () => [long, ...authorize(service.key)]],
    ['a body too large', 413, '/v1/messages', () => [...authorize(service.key), ['content-length', '99999999']]],
    ['an unknown encoding', 400, '/v1/messages', () => [long, ...authorize(service.key), ['content-encoding', 'br']]],
  ]
  for (const [name, status, path, headers] of cases) {
    test(`${name}: no 100 is sent, and the connection is closed`, async () => {
      const connection = new RawConnection(service.address)
      const sent = toBytes({ path, headers: [['expect', '100-continue'], ...headers()], body: '' })
      await connection.send(sent)
      ok(await connection.until(({ isComplete }) => isComplete), 'There is no answer.')
      equal(connection.response.status, status)
      equal(connection.response.interim, 0)
      equal(connection.response.headers.get('connection'), 'close')
      ok(await until(() => connection.isClosed, 'It stays open.'))
    })
  }

  test('a client that expects 100-continue gets it, and then the answer', async () => {
    const connection = new RawConnection(service.address)
    const body = JSON.stringify(bodyFor('messages'))
    await connection.send(head('/v1/messages', [['expect', '100-continue'], ...authorize(service.key)], body.length))
    ok(await connection.until(({ interim }) => interim === 1), 'There is no 100.')
    await connection.send(Buffer.from(body))
    ok(await connection.until(({ isComplete }) => isComplete), 'There is no answer.')
    equal(connection.response.status, 200)
    connection.leave('fin')
  })
})

test('a sender that goes on after its refusal still hears it, and is cut off soon', async () => {
  const connection = new RawConnection(service.address)
  await connection.send(head('/v1/messages', [], 30_000_000))
  const piece = Buffer.alloc(64 * 1_024, 0x20)
  for (let sent = 0; sent < 20 && !connection.isClosed; sent += 1) await connection.send(piece)
  ok(await connection.until(({ isComplete }) => isComplete), 'There is no answer.')
  equal(connection.response.status, 401)
  service.clock.advance(2_000)
  ok(await until(() => connection.isClosed, 'It stays open.'))
})

test('a sender that evades the least rate is cut when the time for a request is over', async () => {
  const own = await startFakeService({}, undefined, { bounds: { requestMsMax: 300 } })
  const connection = new RawConnection(own.address)
  await connection.send(head('/v1/messages', authorize(own.key), 1_000_000))
  const beat = setInterval(() => void connection.send(Buffer.alloc(1_000, 0x20)), 20)
  ok(await connection.until(({ isComplete }) => isComplete), 'There is no answer.')
  clearInterval(beat)
  equal(connection.response.status, 408)
  checkErrorResponse(connection.response, 'messages')
  ok(await until(() => connection.isClosed, 'It stays open.'))
  await own.close()
})
