// An error has the format of the route that its path means, however that path is written.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { checkErrorResponse, type Shape } from '../campaigns/bodies/error-bodies.ts'
import { authorize, exchange } from '../campaigns/raw-http.ts'
import { startFakeService, type FakeService } from '../harness/fake-service.ts'

let service: FakeService
before(async () => {
  service = await startFakeService({})
})
after(() => service.close())

const cases: readonly [path: string, shape: Shape, status: number][] = [
  ['/v1/%6dessages', 'messages', 400],
  ['/%76%31/messages', 'messages', 400],
  ['/v1/messages/count%5Ftokens', 'messages', 400],
  ['/v1/messages%2Fcount_tokens', 'messages', 404],
  ['/v1%2Fmessages', 'messages', 404],
  ['/v1/messages%3Fa', 'shared', 404],
  ['/v1/chat%2fcompletions', 'chat', 404],
  ['/v1/%63hat/completions?%zz', 'chat', 400],
  ['http://odyssey.test/v1/messages', 'messages', 400],
  ['http://odyssey.test/v1/chat/completions?a=b', 'chat', 400],
  ['/v1/m%65ssages/none', 'messages', 404],
]

for (const [path, shape, status] of cases) {
  test(`${path} answers as ${shape}`, async () => {
    const keyed = await exchange(service.address, { path, headers: authorize(service.key), body: '{}' })
    equal(keyed.status, status, keyed.text)
    checkErrorResponse(keyed, shape)
    const keyless = await exchange(service.address, { path, body: '{}' })
    equal(keyless.status, 401, keyless.text)
    checkErrorResponse(keyless, shape)
  })
}

test('whoever has no key learns nothing of methods behind an escaped path', async () => {
  for (const path of ['/v1/messages', '/%761/messages', '/v1/%6dodels']) {
    const response = await exchange(service.address, { method: 'DELETE', path, body: '' })
    deepEqual([response.status, response.headers.has('allow')], [401, false], path)
    ok(!response.text.includes('POST'), path)
  }
})
