import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { after, before, describe, it } from 'node:test'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import { until } from '../../../test/harness/start-service.ts'
import type { Clock } from '../../lib/clock.ts'
import { ReplicaFault } from './dialect.ts'
import { ReplicaBody } from './replica-body.ts'

describe('the body of an answer of a replica', () => {
  let server: Server
  let answering: ServerResponse

  before(async () => {
    server = createServer((_, response) => {
      answering = response
      response.flushHeaders()
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  type Terms = { onOver?(): void; ended?(): void }
  const bodyOf = (clock: Clock, terms: Terms = {}) =>
    new ReplicaBody<string>({
      ...terms,
      clock,
      waitMsMax: () => 1_000,
      take: (bytes) => (bytes.length === 0 ? null : bytes.toString()),
    })

  async function open(terms: Terms = {}) {
    const clock = createManualClock()
    const body = bodyOf(clock, terms)
    body.attach(await ask())
    return { body, clock }
  }

  async function ask(): Promise<IncomingMessage> {
    const asked = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false }).end()
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    // As the client does: what breaks is heard of by whoever reads the body.
    asked.on('error', () => {})
    return response
  }

  const isTimeout = (error: unknown) => error instanceof ReplicaFault && error.kind === 'timeout'
  const isCutOff = (error: unknown) => error instanceof ReplicaFault && error.kind === 'malformed'

  it('is read piece by piece, and ends when it is whole', async () => {
    let ends = 0
    const { body } = await open({ ended: () => (ends += 1) })
    answering.write('one')
    deepEqual(await body.next(), { done: false, value: 'one' })
    answering.end('two')
    const rest: string[] = []
    for await (const piece of body) rest.push(piece)
    equal(rest.join(''), 'two')
    equal(ends, 1)
  })

  it('leaves at the server what its reader does not take', async () => {
    const { body } = await open()
    const piece = 'x'.repeat(1_000_000)
    for (let count = 0; count < 64; count++) answering.write(piece)
    answering.end()
    // What lies between the two takes some megabytes; the rest stays where it is.
    await until(() => Promise.resolve(answering.writableLength > 32_000_000), 'Nothing is held back.')
    for (let turn = 0; turn < 1_000; turn++) await setImmediate()
    ok(answering.writableLength > 32_000_000, `${answering.writableLength} bytes were held back.`)
    let length = 0
    for await (const some of body) length += some.length
    equal(length, 64_000_000)
  })

  it('times the wait for its next piece, and no time in which nobody waits', async () => {
    const { body, clock } = await open()
    answering.write('one')
    deepEqual(await body.next(), { done: false, value: 'one' })
    clock.advance(5_000)
    answering.write('two')
    deepEqual(await body.next(), { done: false, value: 'two' })
    const waiting = body.next()
    clock.advance(999)
    await setImmediate()
    answering.write('three')
    deepEqual(await waiting, { done: false, value: 'three' })
    const last = rejects(body.next(), isTimeout)
    clock.advance(1_000)
    await last
  })

  it('has its own time from the headers on, however long those took', async () => {
    const clock = createManualClock()
    const body = bodyOf(clock)
    const waiting = body.next()
    clock.advance(5_000)
    body.attach(await ask())
    clock.advance(999)
    await setImmediate()
    answering.write('late')
    deepEqual(await waiting, { done: false, value: 'late' })
  })

  it('gives what had come before it was cut off', async () => {
    const overs: string[] = []
    const { body } = await open({ onOver: () => overs.push('over'), ended: () => overs.push('ended') })
    answering.write('half')
    deepEqual(await body.next(), { done: false, value: 'half' })
    answering.destroy()
    await rejects(body.next(), isCutOff)
    deepEqual(await body.next(), { done: true, value: undefined })
    deepEqual(overs, ['over'])
  })

  it('closes its connection when its reader leaves', async () => {
    let overs = 0
    const { body } = await open({ onOver: () => (overs += 1) })
    answering.write('one')
    await body.next()
    const closed = once(answering, 'close')
    await body.return()
    await closed
    deepEqual(await body.next(), { done: true, value: undefined })
    equal(overs, 1)
  })
})
