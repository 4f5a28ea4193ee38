import { deepEqual, equal, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { startUpgradingServer } from '../../../../test/harness/http/upgrading-server.ts'
import { parseAddressList, type AddressList } from '../../../lib/network/address-list.ts'
import { createGuardedFetch } from './guarded-fetch.ts'

type Asked = { readonly method: string | undefined; readonly body: string; readonly type: string | undefined }

const asked: Asked[] = []
const server = createServer(
  (request, response) =>
    void answer(request).then((status) => response.writeHead(status, { 'x-two': ['a', 'b'] }).end()),
)
async function answer(request: IncomingMessage): Promise<number> {
  let body = ''
  for await (const part of request as AsyncIterable<Buffer>) body += part.toString()
  asked.push({ method: request.method, body, type: request.headers['content-type'] })
  return Number(request.url?.slice(1))
}
before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
after(() => {
  server.closeAllConnections()
  server.close()
})

const fetch = createGuardedFetch({ privateAddresses: parseAddressList(['127.0.0.1']) as AddressList })
const at = (status: number) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/${status}`

test('an answer without content is one, and each of several headers of a name is kept', async () => {
  for (const status of [204, 205, 304, 200]) {
    const response = await fetch(at(status), {})
    deepEqual([response.status, await response.text()], [status, ''])
    equal(response.headers.get('x-two'), 'a, b')
  }
})

test('a body is sent as a form, a text or bytes, and as nothing else', async () => {
  const bodies = [new URLSearchParams({ a: '1 2' }), 'text', Buffer.from('bytes'), null, undefined]
  asked.length = 0
  for (const body of bodies) {
    await fetch(at(200), { method: 'POST', headers: new Headers({ 'content-type': 'text/x' }), body })
  }
  deepEqual(
    asked.map(({ body, type }) => [body, type]),
    ['a=1+2', 'text', 'bytes', '', ''].map((body) => [body, 'text/x']),
  )
  await rejects(fetch(at(200), { method: 'POST', body: { a: 1 } }), /body of this kind/)
})

test('a request that its caller gives up ends at once', async () => {
  const caller = new AbortController()
  const asking = fetch(at(200), { signal: caller.signal })
  caller.abort()
  await rejects(asking, { name: 'AbortError' })
})

test('a server that changes to another protocol is one that has failed, and is not waited for', async (t) => {
  const upgrading = await startUpgradingServer()
  t.after(() => upgrading.close())
  equal(
    await upgrading.endOf(fetch(upgrading.address, {})),
    'Error: It answered 101, which changes to another protocol.',
  )
})

test('nothing but the web is asked, and no address of the house', async () => {
  await rejects(fetch('ftp://example.com/', {}), /HTTPS/)
  await rejects(fetch('http://127.0.0.2/', {}), /not one of the open internet/)
})
