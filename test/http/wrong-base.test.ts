// Clients that are set up wrongly, and endpoints that are not offered: one request, one
// answer that says what to do, no redirect and nothing that a client would try again.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import Anthropic0 from '@anthropic-ai/sdk-0'
import OpenAI from 'openai'
import OpenAI6 from 'openai-6'
import { ask, bodyFor, paths } from '../harness/http/ask.ts'
import { checkError, type ErrorShape } from '../harness/check-error.ts'
import { exchangeBytes, requestBytes } from '../harness/http/exchange-bytes.ts'
import { recordFetch } from '../harness/http/record-fetch.ts'
import { startService, type Service } from '../harness/start-service.ts'

let service: Service

before(async () => {
  service = await startService()
})
after(async () => {
  equal(await service.stop(), 0)
})

const notFound = { status: 404, type: 'not_found_error', shouldRetry: 'false' } as const
const endInV1 = 'Base address for chat-completions clients must end in /v1.'
const withoutV1 = 'Base address for messages clients must not contain /v1.'

describe('a wrong base address is explained, with a key and without', () => {
  const hints: Record<string, string> = {
    '/chat/completions': endInV1,
    '/models': endInV1,
    '/v1/v1/chat/completions': 'Remove one /v1 from the base address.',
    '/v1/v1/messages': withoutV1,
    '/v1/v1/messages/count_tokens': withoutV1,
    '/messages': 'Set baseURL to …/v1 for this library.',
  }
  for (const [path, message] of Object.entries(hints)) {
    test(path, async () => {
      for (const key of [service.key, null]) {
        const asking = path === '/models' ? { key } : { key, body: bodyFor('chat') }
        for (const query of ['', '?beta=true']) {
          checkError(await ask(service, `${path}${query}`, asking), 'shared', {
            ...notFound,
            code: 'unknown_url',
            param: null,
            message,
          })
        }
      }
    })
  }
})

describe('no spelling of a path is put right', () => {
  const spellings: Record<string, ErrorShape> = {
    '/v1/chat/completions/': 'chat',
    '/v1/messages/': 'messages',
    '/v1/messages/count_tokens/': 'messages',
    '//v1/chat/completions': 'shared',
    '//v1/messages': 'shared',
    '/V1/messages': 'shared',
    '/v1/Messages': 'shared',
    '/v1//messages': 'shared',
    '/v1/chat': 'shared',
    '/v2/messages': 'shared',
    '/v1/models/hal-1.0/more': 'shared',
    '/v1': 'shared',
    '/nothing': 'shared',
  }
  for (const [path, shape] of Object.entries(spellings)) {
    test(path, async () => {
      const answer = await ask(service, path, { body: bodyFor('messages') })
      checkError(answer, shape, { ...notFound, code: 'unknown_url' })
    })
  }

  test('a slash at the end is told', async () => {
    for (const path of [...Object.values(paths), '/v1/messages/count_tokens']) {
      for (const spelling of [`${path}/`, `${path}/?beta=true`]) {
        const answer = await ask(service, spelling, { body: bodyFor('messages') })
        const message = `There is nothing at this address. Remove the slash at its end: POST ${path}.`
        checkError(answer, path === paths.chat ? 'chat' : 'messages', { ...notFound, code: 'unknown_url', message })
        equal((await ask(service, spelling, { key: null, body: {} })).status, 401)
      }
    }
  })

  // Sent as bytes, because a client library would resolve the dots itself.
  for (const path of ['/v1/x/../messages', '/v1/x/%2e%2e/messages', '/v1/./messages', '/healthz/../v1/messages']) {
    test(path, async () => {
      const body = JSON.stringify(bodyFor('messages'))
      const authorization = `Bearer ${service.key}`
      equal((await exchangeBytes(service, requestBytes('POST', path, { authorization }, body))).status, 404)
    })
  }

  test('no spelling leads past the key', async () => {
    for (const path of ['/v1/%6dessages', '/v1/messages%3Fx', '/v1/x/../messages', '/v1/models;x', '/v1/models%2f']) {
      for (const method of ['GET', 'POST']) {
        const { status } = await exchangeBytes(service, requestBytes(method, path, {}, '{}'))
        ok(status === 401 || status === 404, `${method} ${path} ${status}`)
      }
    }
  })
})

describe('endpoints that are not offered', () => {
  const endpoints: readonly { method?: string; path: string; shape: ErrorShape; message: RegExp }[] = [
    {
      method: 'POST',
      path: '/v1/responses',
      shape: 'shared',
      message: /The responses format is not offered; use POST \/v1\/chat\/completions\.$/,
    },
    {
      method: 'GET',
      path: '/v1/responses/resp_1',
      shape: 'shared',
      message: /The responses format is not offered; use POST/,
    },
    {
      method: 'POST',
      path: '/v1/embeddings',
      shape: 'shared',
      message: /^Embeddings are not offered by this service; use a dedicated embedding provider\.$/,
    },
    { method: 'POST', path: '/v1/completions', shape: 'shared', message: /chat\/completions/ },
    { method: 'GET', path: '/v1/chat/completions/chatcmpl-1', shape: 'chat', message: /./ },
    { method: 'DELETE', path: '/v1/chat/completions/chatcmpl-1', shape: 'chat', message: /./ },
    { method: 'GET', path: '/v1/chat/completions/chatcmpl-1/messages', shape: 'chat', message: /./ },
    { method: 'POST', path: '/v1/messages/batches', shape: 'messages', message: /./ },
    { method: 'GET', path: '/v1/messages/batches', shape: 'messages', message: /./ },
    { method: 'POST', path: '/v1/messages/batches/msgbatch_1/cancel', shape: 'messages', message: /./ },
    { method: 'POST', path: '/v1/files', shape: 'shared', message: /./ },
    { method: 'GET', path: '/v1/files/file_1/content', shape: 'shared', message: /./ },
  ]
  for (const { method, path, shape, message } of endpoints) {
    test(`${method} ${path}, which is not offered, is refused`, async () => {
      const asking = { ...(method !== undefined && { method }), ...(method === 'POST' && { body: {} }) }
      const answer = await ask(service, path, asking)
      checkError(answer, shape, { ...notFound, code: 'unsupported_endpoint', message })
      equal((await ask(service, path, { ...asking, key: null })).status, 401)
    })
  }
})

describe('the rest of the surface', () => {
  test('a warm-up is answered', async () => {
    for (const path of ['/', '/api/hello', '/api/hello?x=1']) {
      const answer = await ask(service, path, { method: 'HEAD', key: null })
      deepEqual([answer.status, answer.text], [200, ''])
    }
  })

  test('GET on a route for POST is 405', async () => {
    for (const [shape, path] of Object.entries(paths) as [ErrorShape, string][]) {
      const answer = await ask(service, path)
      checkError(answer, shape, { status: 405, type: 'invalid_request_error', shouldRetry: 'false' })
      equal(answer.headers.get('allow'), 'POST')
    }
  })

  test('HEAD is answered as GET is, without the body', async () => {
    for (const path of ['/v1/models', '/v1/models/hal-1.0', '/v1/models/none', '/healthz', '/readyz', '/status.json']) {
      const got = await ask(service, path)
      const told = await ask(service, path, { method: 'HEAD' })
      deepEqual([told.status, told.text], [got.status, ''])
      for (const name of ['content-type', 'content-length']) equal(told.headers.get(name), got.headers.get(name), path)
    }
    equal((await ask(service, '/v1/models', { method: 'HEAD', key: null })).status, 401)
  })

  test('a route for GET says that it has HEAD too', async () => {
    for (const path of ['/v1/models', '/v1/models/hal-1.0', '/healthz']) {
      const answer = await ask(service, path, { body: {} })
      deepEqual([answer.status, answer.headers.get('allow')], [405, 'GET, HEAD'])
    }
  })

  test('any query string is let through', async () => {
    for (const path of ['/v1/models?beta=true', '/v1/models/hal-1.0?x=%zz&y']) {
      equal((await ask(service, path)).status, 200)
    }
    for (const path of Object.values(paths)) {
      equal((await ask(service, `${path}?beta=true&%`, { body: bodyFor('messages') })).status, 200)
    }
  })

  test('liveness and readiness need no key and tell little', async () => {
    deepEqual((await ask(service, '/healthz', { key: null })).json(), { status: 'ok' })
    const ready = await ask(service, '/readyz', { key: null })
    equal(ready.status, 200)
    equal(ready.json()['status'], 'ready')
  })
})

const openaiClients = { 'openai 7': OpenAI, 'openai 6': OpenAI6 as unknown as typeof OpenAI }
const anthropicClients = { 'anthropic 1': Anthropic, 'anthropic 0': Anthropic0 as unknown as typeof Anthropic }

/** Runs a call that must fail and checks that it took one request, to this path, and an answer that explains. */
async function checkOneNotFound(
  recorded: ReturnType<typeof recordFetch>,
  asking: Promise<unknown>,
  { path, hint }: { readonly path: string; readonly hint: string },
): Promise<void> {
  await rejects(asking, (error: { status?: number; message: string }) => {
    equal(error.status, 404)
    ok(error.message.includes(hint), error.message)
    return true
  })
  deepEqual(
    recorded.requests.map(({ url }) => new URL(url).pathname),
    [path],
  )
}

for (const [name, Client] of Object.entries(openaiClients)) {
  describe(name, () => {
    const cases: Record<string, { readonly path: string; readonly hint: string }> = {
      '': { path: '/chat/completions', hint: endInV1 },
      '/v1/v1': { path: '/v1/v1/chat/completions', hint: 'Remove one /v1' },
    }
    for (const [suffix, expected] of Object.entries(cases)) {
      test(`the client library works at {base}${suffix}`, async () => {
        const recorded = recordFetch()
        const client = new Client({
          baseURL: `${service.address}${suffix}`,
          apiKey: service.key,
          fetch: recorded.fetch,
        })
        const messages = [{ role: 'user', content: 'Hello' } as const]
        await checkOneNotFound(recorded, client.chat.completions.create({ model: 'clarke-1.0', messages }), expected)
      })
    }

    test('the client library lists models without /v1', async () => {
      const recorded = recordFetch()
      const client = new Client({ baseURL: service.address, apiKey: service.key, fetch: recorded.fetch })
      const asking = (async () => client.models.list())()
      await checkOneNotFound(recorded, asking, { path: '/models', hint: endInV1 })
    })
  })
}

for (const [name, Client] of Object.entries(anthropicClients)) {
  describe(name, () => {
    const least = { model: 'clarke-1.0', messages: [{ role: 'user', content: 'Hello' } as const] }
    const connect = (recorded: ReturnType<typeof recordFetch>) =>
      new Client({
        baseURL: `${service.address}/v1`,
        apiKey: service.key,
        authToken: null,
        fetch: recorded.fetch,
      })

    test('the client library works at {base}/v1', async () => {
      const recorded = recordFetch()
      const asking = connect(recorded).messages.create({ ...least, max_tokens: 10 })
      await checkOneNotFound(recorded, asking, { path: '/v1/v1/messages', hint: withoutV1 })
    })

    test('the client library streams at {base}/v1', async () => {
      const recorded = recordFetch()
      const asking = connect(recorded)
        .messages.stream({ ...least, max_tokens: 10 })
        .finalMessage()
      await checkOneNotFound(recorded, asking, { path: '/v1/v1/messages', hint: withoutV1 })
    })

    test('the client library counts at {base}/v1', async () => {
      const recorded = recordFetch()
      const asking = connect(recorded).messages.countTokens(least)
      await checkOneNotFound(recorded, asking, { path: '/v1/v1/messages/count_tokens', hint: withoutV1 })
    })
  })
}
