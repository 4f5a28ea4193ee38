// Pages in a browser may use the models where the operator names their origin, and nowhere else.

import { equal, ok } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { bodyFor, formats, paths } from '../harness/http/ask.ts'
import { startFakeService, type FakeService } from '../harness/fake-service.ts'

const page = 'https://chat.example.com'
const stranger = 'https://evil.example.com'
let closed: FakeService
let open: FakeService
let forAll: FakeService

before(async () => {
  closed = await startFakeService({})
  open = await startFakeService({}, undefined, { corsOrigins: [page] })
  forAll = await startFakeService({}, undefined, { corsOrigins: ['*'] })
})
after(() => Promise.all([closed, open, forAll].map((service) => service.close())))

function preflight({ address }: FakeService, path: string, origin: string): Promise<Response> {
  const headers = {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type,x-stainless-lang,anthropic-version,x-secret',
  }
  return fetch(address + path, { method: 'OPTIONS', headers })
}

function post({ address, key }: FakeService, format: 'chat' | 'messages', origin: string, stream: boolean) {
  const headers = { origin, authorization: `Bearer ${key}` }
  return fetch(address + paths[format], { method: 'POST', headers, body: JSON.stringify(bodyFor(format, { stream })) })
}

describe('a preflight', () => {
  for (const path of [...Object.values(paths), '/v1/models']) {
    test(`a preflight of a page that is named is answered without a key: ${path}`, async () => {
      const answer = await preflight(open, path, page)
      equal(answer.status, 204)
      equal(answer.headers.get('access-control-allow-origin'), page)
      equal(answer.headers.get('access-control-allow-methods'), 'GET, POST')
      equal(
        answer.headers.get('access-control-allow-headers'),
        'authorization, content-type, x-stainless-lang, anthropic-version',
      )
      equal(answer.headers.get('access-control-allow-credentials'), null)
      equal(answer.headers.get('vary'), 'Origin')
    })
  }

  test('a preflight of a page that is not named is refused like any request without a key', async () => {
    for (const [service, origin] of [
      [closed, page],
      [open, stranger],
      [open, `${page}.evil.example.com`],
      [open, 'null'],
    ] as const) {
      const answer = await preflight(service, paths.chat, origin)
      equal(answer.status, 401)
      equal(answer.headers.get('access-control-allow-origin'), null)
    }
  })

  test('a preflight of any page is answered where all are named, without credentials', async () => {
    const answer = await preflight(forAll, paths.messages, stranger)
    equal(answer.status, 204)
    equal(answer.headers.get('access-control-allow-origin'), '*')
    equal(answer.headers.get('access-control-allow-credentials'), null)
  })

  test('a preflight of the management API is never answered', async () => {
    const answer = await preflight(forAll, '/api/v1/organizations', page)
    ok(answer.status >= 400)
    equal(answer.headers.get('access-control-allow-origin'), null)
  })
})

describe('an answer', () => {
  for (const format of formats) {
    for (const stream of [true, false]) {
      test(`an answer may be read by a page that is named: ${format}, ${stream ? 'streamed' : 'whole'}`, async () => {
        const answer = await post(open, format, page, stream)
        equal(answer.status, 200)
        equal(answer.headers.get('access-control-allow-origin'), page)
        const exposed = (answer.headers.get('access-control-expose-headers') ?? '').split(', ')
        for (const name of ['request-id', 'retry-after', 'x-ratelimit-remaining-requests']) ok(exposed.includes(name))
        await answer.text()
        const other = await post(open, format, stranger, stream)
        equal(other.headers.get('access-control-allow-origin'), null)
        await other.text()
      })
    }
  }

  test('an error may be read by a page that is named', async () => {
    const answer = await fetch(open.address + paths.chat, { method: 'POST', headers: { origin: page }, body: '{}' })
    equal(answer.status, 401)
    equal(answer.headers.get('access-control-allow-origin'), page)
  })

  test('an answer says nothing of origins where none are named', async () => {
    const answer = await post(closed, 'chat', page, false)
    equal(answer.headers.get('vary'), null)
    equal(answer.headers.get('access-control-allow-origin'), null)
  })
})
