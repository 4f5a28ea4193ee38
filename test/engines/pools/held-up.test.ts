// A gateway or a replica whose machine has too much to do is late, and not away.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { Worker } from 'node:worker_threads'
import { ReplicaClient } from '../../../src/engines/remote/replica-client.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { openPool } from '../../harness/engines/open-pool.ts'
import { openPlaceholderModel } from '../../harness/engines/placeholder-model.ts'
import { openStandIn } from '../../harness/engines/stand-in.ts'
import { until } from '../../harness/start-service.ts'

/** Sent some memory, it does nothing more until the first word of that is another one than 0. */
const serverProgram = `
  const { createServer } = require('node:http')
  const { parentPort } = require('node:worker_threads')
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json').flushHeaders()
    setTimeout(() => response.end('{}'), 300)
  })
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => parentPort.postMessage(server.address().port))
  parentPort.on('message', (held) => {
    parentPort.postMessage('held')
    Atomics.wait(held, 0, 0)
  })
`

describe('a machine that is held up', () => {
  let worker: Worker
  let port: number
  const health = { method: 'GET', path: '/health' } as const

  before(async () => {
    worker = new Worker(serverProgram, { eval: true })
    port = await new Promise<number>((resolve) => worker.once('message', resolve))
  })
  after(() => worker.terminate())

  const openClient = () =>
    new ReplicaClient({
      address: new URL(`http://127.0.0.1:${port}`),
      key: null,
      paths: ['/health'],
      clock: systemClock,
    })

  /** Does nothing else meanwhile, as where another program has the processor. */
  const holdUp = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

  it('takes no replica for away that connected and answered while the gateway itself was held up', async () => {
    const client = openClient()
    const ask = async (heldAfterMs: number | null, heldMs: number) => {
      const asking = client.ask(health, 1_200)
      if (heldAfterMs === null) await new Promise(process.nextTick)
      else await new Promise((resolve) => setTimeout(resolve, heldAfterMs))
      holdUp(heldMs)
      return asking
    }
    // While it connects, for longer than it waits for that; then before the head comes, and between that and the rest.
    deepEqual(await ask(null, 1_100), {})
    deepEqual(await ask(0, 1_500), {})
    deepEqual(await ask(150, 1_500), {})
    client.close()
  })

  it('says of a replica that takes no connection in time that it does not, and not that it refuses any', async () => {
    const client = openClient()
    const held = new Int32Array(new SharedArrayBuffer(4))
    const isHeld = new Promise((resolve) => worker.once('message', resolve))
    worker.postMessage(held)
    await isHeld
    // The system itself takes as many connections as the program lets wait.
    const waiting: Socket[] = []
    const isTaken = async () => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      waiting.push(socket)
      return Promise.race([
        new Promise<boolean>((resolve) => socket.once('connect', () => resolve(true))),
        new Promise<boolean>((resolve) => setTimeout(resolve, 500, false)),
      ])
    }
    while (await isTaken());
    const fault = await client.check(health)
    for (const socket of waiting) socket.destroy()
    Atomics.store(held, 0, 1)
    Atomics.notify(held, 0)
    deepEqual([fault?.kind, fault?.message], ['unconnected', 'It took no connection within a second.'])
    await until(async () => (await client.check(health)) === null, 'It does not answer any more.', 30_000)
    client.close()
  })

  it('is given all at once again where it is the only one, and at the first good answer', async () => {
    const model = await openPlaceholderModel()
    const first = await openStandIn({ kind: 'llama-server', model })
    const engine = await openPool([first])
    const [replica] = engine.replicas
    ok(replica !== undefined)
    await first.close()
    await until(() => replica.health.state === 'ejected', 'It is believed to be there.')
    const again = await openStandIn({ kind: 'llama-server', model, port: Number(new URL(first.address).port) })
    await until(() => replica.health.state === 'up', 'It does not come back.', 60_000)
    const [look, ...others] = again.paths
    equal(look, '/health')
    // The others are those of its proof.
    ok(!others.includes('/health') || others.indexOf('/health') > others.indexOf('/completion'), String(others))
    equal(replica.health.share, 1)
    await engine.close()
    await again.close()
  })
})
