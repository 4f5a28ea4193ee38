import { equal } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { whenClientLeaves } from '../../../src/http/admit.ts'

test('a client that left while its body was decoded is known to have left', async (t) => {
  const left = Promise.withResolvers<string>()
  const server = createServer((request, response) => {
    request.resume()
    // As long as it takes to decode a large body in another thread.
    response.once('close', () => {
      setImmediate(() => {
        whenClientLeaves(response, () => left.resolve('left'))
        setTimeout(() => left.resolve('never told'), 5_000).unref()
      })
    })
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}')
  await once(server, 'request')
  socket.resetAndDestroy()
  equal(await left.promise, 'left')
})
