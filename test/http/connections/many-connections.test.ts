// How many connections may be open, which of them make room for others, and who is told that there are too many.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { after, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { FakeStep } from '../../../src/engines/fake/fake-engine.ts'
import { RawConnection, authorize, exchange, toBytes } from '../../campaigns/raw-http.ts'
import { bodyFor } from '../../harness/http/ask.ts'
import { startFakeService, type FakeService } from '../../harness/fake-service.ts'
import { startService, until } from '../../harness/start-service.ts'

const opened: FakeService[] = []
after(async () => {
  for (const service of opened) {
    service.app.server.closeAllConnections()
    await service.close()
  }
})

type Options = Parameters<typeof startFakeService>

async function start(
  bounds: NonNullable<Options[2]>['bounds'],
  rest: Options[2] = {},
  script: readonly FakeStep[] = [],
) {
  const service = await startFakeService({ script: () => script }, undefined, { ...rest, ...(bounds && { bounds }) })
  opened.push(service)
  return service
}

async function openSockets(
  { address }: Pick<FakeService, 'address'>,
  count: number,
  localAddress = '127.0.0.1',
): Promise<Socket[]> {
  const { hostname, port } = new URL(address)
  const sockets = Array.from({ length: count }, () => connect({ host: hostname, port: Number(port), localAddress }))
  for (const socket of sockets) socket.on('error', () => {})
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  return sockets
}

/** Resolves when the service has let so many in, and has found that none of them has sent anything. */
async function untilIdle({ app }: FakeService, count: number): Promise<void> {
  const { server } = app
  const accepted = () => new Promise<number>((resolve) => server.getConnections((_, open) => resolve(open)))
  await until(async () => (await accepted()) === count, 'They were not let in.')
  // It looks for what they have sent in the next turns of the event loop.
  await setTimeout(20)
}

const isOpen = (socket: Socket) => !socket.closed && !socket.readableEnded
const listing = (service: FakeService) => ({
  method: 'GET',
  path: '/v1/models',
  headers: authorize(service.key),
  body: '',
})
/** A connection whose last answer is so long ago may be ended. */
const restMs = 1_100
const never: FakeStep = { kind: 'wait-for', event: new Promise(() => {}) }

test('a new client is served while 3,000 connections are open', async () => {
  const service = await start({ connectionsMax: 3_000, connectionsPerAddressMax: null })
  const sockets = await openSockets(service, 3_000)
  equal((await exchange(service.address, listing(service))).status, 200)
  for (const socket of sockets) socket.resume().destroy()
})

describe('when an address has as many as it may', () => {
  test('a new connection of a full address ends the one that has been idle for longest', async () => {
    const service = await start({ connectionsPerAddressMax: 3 })
    const sockets = await openSockets(service, 3)
    for (const socket of sockets) socket.resume()
    await untilIdle(service, 3)
    equal((await exchange(service.address, listing(service))).status, 200)
    await until(() => !isOpen(sockets[0] as Socket), 'The first one is still open.')
    deepEqual(sockets.map(isOpen), [false, true, true])
    // Another address is not touched by it.
    const [other] = await openSockets(service, 1, '127.0.0.2')
    deepEqual([isOpen(other as Socket), sockets.filter(isOpen).length], [true, 2])
  })

  test('a new connection of a full address ends one whose body is still arriving', async () => {
    const service = await start({ connectionsPerAddressMax: 2 })
    const slow = [new RawConnection(service.address), new RawConnection(service.address)]
    for (const connection of slow) {
      await connection.send(
        toBytes({ path: '/v1/messages', headers: [...authorize(service.key), ['content-length', '99']], body: '' }),
      )
      await setTimeout(50)
    }
    equal((await exchange(service.address, listing(service))).status, 200)
    deepEqual(
      slow.map(({ isClosed }) => isClosed),
      [true, false],
    )
  })

  test('a connection that waits for an answer is kept, and a new one gets 503', async () => {
    const service = await start({ connectionsPerAddressMax: 2 }, {}, [never])
    const busy = [new RawConnection(service.address), new RawConnection(service.address)]
    const body = JSON.stringify(bodyFor('messages', { stream: true }))
    for (const connection of busy) {
      await connection.send(toBytes({ path: '/v1/messages', headers: authorize(service.key), body }))
    }
    await until(() => service.engine.status().running === 2, 'They are not under way.')
    const refused = new RawConnection(service.address)
    ok(await refused.until(({ isComplete }) => isComplete), 'The newcomer hears nothing.')
    deepEqual([refused.response.status, refused.response.headers.get('retry-after')], [503, '1'])
    await until(() => refused.isClosed, 'The newcomer stays.')
    deepEqual(
      busy.map(({ isClosed }) => isClosed),
      [false, false],
    )
  })

  test('a trusted proxy may have more connections than an address', async () => {
    const service = await start({ connectionsPerAddressMax: 2 }, { trustedProxies: ['127.0.0.0/24'] })
    const sockets = await openSockets(service, 10)
    for (const socket of sockets) socket.resume()
    equal((await exchange(service.address, listing(service))).status, 200)
    equal(sockets.filter(isOpen).length, 10)
  })
})

test('all addresses together have no more connections than the bound of all', async () => {
  const service = await start({ connectionsMax: 4 })
  const sockets = [...(await openSockets(service, 3)), ...(await openSockets(service, 3, '127.0.0.2'))]
  for (const socket of sockets) socket.resume()
  equal((await exchange(service.address, listing(service))).status, 200)
  await until(() => sockets.filter(isOpen).length <= 4, 'More are open.')
})

test('a request that has come before anybody reads it keeps its connection, whoever else wants to be let in', async () => {
  const { address, key, pid, stop } = await startService({ config: { server: { connectionsPerAddressMax: 8 } } })
  try {
    const bytes = toBytes({ method: 'GET', path: '/v1/models', headers: authorize(key), body: '' })
    // Whoever waited for the start has a connection as well.
    await setTimeout(restMs)
    const connections = Array.from({ length: 8 }, () => new RawConnection(address))
    for (const connection of connections) equal((await connection.roundTrip(bytes)).status, 200)
    await setTimeout(restMs)
    process.kill(pid, 'SIGSTOP')
    // The system takes connections and bytes for the service, which is told of the newcomers first.
    const newcomers = Array.from({ length: 40 }, () => new RawConnection(address))
    await Promise.all(newcomers.map((newcomer) => newcomer.send(bytes)))
    const second = connections.map((connection) => connection.roundTrip(bytes))
    await setTimeout(50)
    process.kill(pid, 'SIGCONT')
    deepEqual(
      (await Promise.all(second)).map(({ status }) => status),
      Array(8).fill(200),
    )
    for (const newcomer of newcomers) {
      ok(await newcomer.until(({ isComplete }) => isComplete), 'A newcomer is cut off.')
      ok([200, 503].includes(newcomer.response.status ?? 0), `A newcomer is answered ${newcomer.response.status}.`)
    }
    for (const connection of [...connections, ...newcomers]) connection.leave('fin')
  } finally {
    await stop()
  }
})

const queueFile = '/proc/sys/net/core/somaxconn'
const queueMost = existsSync(queueFile) ? Number(readFileSync(queueFile, 'utf8')) : 0

test(
  'whoever connects while the service is held up waits in the system',
  { skip: queueMost < 1_000, timeout: 60_000 },
  async () => {
    const service = await startService()
    try {
      process.kill(service.pid, 'SIGSTOP')
      // Beyond the queue nobody connects, and the system resets in the end whoever believes to have done so.
      const sockets = await openSockets(service, 900)
      process.kill(service.pid, 'SIGCONT')
      for (const socket of sockets) socket.destroy()
    } finally {
      process.kill(service.pid, 'SIGCONT')
      await service.stop()
    }
  },
)
