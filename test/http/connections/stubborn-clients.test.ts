// Clients that hold on to connections in ways of their own.

import { equal, ok, rejects } from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { createApp } from '../../../src/http/app.ts'
import { listen } from '../../../src/http/server.ts'
import { RawConnection, authorize, exchange, toBytes } from '../../campaigns/raw-http.ts'
import { testBounds } from '../../harness/bounds.ts'
import { startFakeService, type FakeService } from '../../harness/fake-service.ts'
import { until } from '../../harness/start-service.ts'

let service: FakeService
before(async () => {
  service = await startFakeService({}, undefined, { bounds: { requestMsMax: 500 } })
})
after(async () => {
  service.app.server.closeAllConnections()
  await service.close()
})

describe('a connection is closed', () => {
  const heads: readonly [name: string, text: string][] = [
    ['that never says anything', ''],
    ['whose head comes a byte at a time', 'GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: '],
    ['that sends empty lines', '\r\n\r\n'],
  ]
  for (const [name, text] of heads) {
    test(name, async () => {
      const connection = new RawConnection(service.address)
      await connection.send(Buffer.from(text))
      const beat = setInterval(
        () => text !== '' && void connection.send(Buffer.from(text === '\r\n\r\n' ? '\r\n' : 'a')),
        50,
      )
      ok(await until(() => connection.isClosed, 'It stays open.', 10_000))
      clearInterval(beat)
    })
  }

  test('a connection whose client never reads is closed', async () => {
    const { server } = service.app
    // The real time is a minute and a half; what is tried is that it is in force.
    const before = server.timeout
    server.timeout = 300
    const { hostname, port } = new URL(service.address)
    const socket = connect(Number(port), hostname).pause()
    socket.on('error', () => {})
    const request = toBytes({ method: 'GET', path: '/api/v1/openapi.json', headers: authorize(service.key), body: '' })
    for (let count = 0; count < 400; count += 1) socket.write(request)
    const open = () => new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)))
    await until(async () => (await open()) > 0, 'It did not open.')
    await until(async () => (await open()) === 0, 'It stays open.')
    server.timeout = before
    socket.destroy()
  })
})

test('a client of HTTP 1.0 is answered, and its connection ends', async () => {
  const connection = new RawConnection(service.address)
  await connection.send(Buffer.from(`GET /healthz HTTP/1.0\r\n\r\n`))
  ok(await connection.until(({ isComplete }) => isComplete))
  equal(connection.response.status, 200)
  ok(await until(() => connection.isClosed, 'It stays open.'))
})

test('the second address of localhost is answered, and keeps to the bounds of the first', async () => {
  const bounds = { ...testBounds, connectionsMax: 2 }
  const { parts } = service
  const app = createApp({ ...parts, bounds })
  const hosts = ['127.0.0.1', '127.0.0.2']
  const address = await listen(app, { host: 'localhost', port: 0 }, async () =>
    hosts.map((host) => ({ address: host })),
  )
  const { port } = new URL(address)
  const second = `http://127.0.0.2:${port}`
  equal((await exchange(second, { method: 'GET', path: '/healthz', body: '' })).status, 200)
  const sockets = hosts.flatMap((host) =>
    [1, 2].map(() =>
      connect(Number(port), host)
        .on('error', () => {})
        .resume(),
    ),
  )
  await until(() => sockets.filter((socket) => socket.closed).length === 2, 'More are open.')
  equal(sockets.filter((socket) => !socket.closed).length, 2)
  for (const socket of sockets) socket.destroy()
  await app.close()
  await rejects(
    exchange(second, { method: 'GET', path: '/healthz', body: '' }).then(({ status }) => ok(status !== null)),
  )
})
