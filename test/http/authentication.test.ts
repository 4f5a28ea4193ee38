import { equal, match, ok } from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createApiKey, revokeApiKey } from '../../src/accounts/api-keys.ts'
import { createKey as createUnknownKey } from '../../src/accounts/key-format.ts'
import { ensureDefaultHome } from '../../src/accounts/organizations.ts'
import { loadSecrets } from '../../src/config/load-secret.ts'
import { openSqlite } from '../../src/db/open-sqlite.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { ask, bodyFor, formats, longMessages, paths } from '../harness/http/ask.ts'
import { checkError, type ErrorShape } from '../harness/check-error.ts'
import { openFormatStream, readFrames } from '../harness/http/open-stream.ts'
import { createKey, runCli } from '../harness/run-cli.ts'
import { startService, until, type Service } from '../harness/start-service.ts'

const operator = { kind: 'operator' } as const
let service: Service

before(async () => {
  service = await startService()
})
after(async () => {
  equal(await service.stop(), 0)
})

type Route = { readonly path: string; readonly shape: ErrorShape; readonly body?: Record<string, unknown> }

const counting = { model: 'clarke-1.0', messages: [{ role: 'user', content: 'Hello' }] }
const routes: readonly Route[] = [
  { path: paths.chat, shape: 'chat', body: bodyFor('chat') },
  { path: paths.messages, shape: 'messages', body: bodyFor('messages') },
  { path: '/v1/messages/count_tokens', shape: 'messages', body: counting },
  { path: '/v1/models', shape: 'shared' },
  { path: '/v1/models/hal-1.0', shape: 'shared' },
]

/** Asks with exactly these headers, without the key that is otherwise sent. */
function askWith(route: Route, headers: Record<string, string>) {
  return ask(service, route.path, { headers, key: null, ...(route.body !== undefined && { body: route.body }) })
}

async function checkRefused(route: Route, headers: Record<string, string>, message?: RegExp): Promise<void> {
  checkError(await askWith(route, headers), route.shape, {
    status: 401,
    type: route.shape === 'chat' ? 'invalid_request_error' : 'authentication_error',
    code: 'invalid_api_key',
    param: null,
    ...(message !== undefined && { message }),
  })
}

/** What the service has logged, with the lines of all requests answered so far, which it writes some time later. */
async function completeLog(): Promise<string> {
  const { headers } = await ask(service, '/healthz')
  const latest = headers.get('x-request-id') ?? ''
  return until(() => {
    const { stderr } = service.output()
    return stderr.includes(latest) ? stderr : null
  }, 'The latest request was not logged.')
}

/** A key of the right form, checksum and all, that is nobody's. */
const unknownKey = createUnknownKey()
const hint = /Authorization: Bearer <key> or x-api-key/

for (const route of routes) {
  describe(route.path, () => {
    const accepted = (key: string): Record<string, Record<string, string>> => ({
      'a bearer token': { authorization: `Bearer ${key}` },
      'a scheme in small letters': { authorization: `bearer ${key}` },
      'a scheme in capitals, more spaces': { authorization: `BEARER   ${key}` },
      'x-api-key': { 'x-api-key': key },
      'both headers': { authorization: `Bearer ${key}`, 'x-api-key': key },
      'a bearer token and a leftover key': { authorization: `Bearer ${key}`, 'x-api-key': 'sk-ant-leftover-000000' },
      'a leftover token and x-api-key': { authorization: 'Bearer sk-ant-leftover-000000', 'x-api-key': key },
      'an empty token and x-api-key': { authorization: 'Bearer ', 'x-api-key': key },
      'another scheme and x-api-key': { authorization: 'Basic dXNlcjpwYXNz', 'x-api-key': key },
      'the headers of an organization': {
        authorization: `Bearer ${key}`,
        'openai-organization': 'org-1',
        'openai-project': 'p',
      },
      'any version': { 'x-api-key': key, 'anthropic-version': '2031-01-01', 'anthropic-beta': 'nothing-2026-01-01' },
    })
    for (const name of Object.keys(accepted(''))) {
      test(`accepts ${name}`, async () => {
        const answer = await askWith(route, accepted(service.key)[name] ?? {})
        equal(answer.status, 200, answer.text)
      })
    }

    const placeholders = ['dummy', 'none', 'EMPTY']
    test('a request without a key is refused with the way to send one', async () => {
      await checkRefused(route, {}, hint)
      await checkRefused(route, { authorization: 'Bearer ' }, hint)
      await checkRefused(route, { 'x-api-key': '' }, hint)
      await checkRefused(route, { authorization: 'Basic dXNlcjpwYXNz' }, hint)
    })

    for (const placeholder of placeholders) {
      test(`refuses the placeholder ${placeholder} with the way to send a key`, async () => {
        await checkRefused(route, { authorization: `Bearer ${placeholder}` }, hint)
        await checkRefused(route, { 'x-api-key': placeholder }, hint)
      })
    }

    test('refuses other spellings of a key', async () => {
      const { key } = service
      const middle = key.slice(7, -1)
      const spellings = [
        key.slice(0, -1),
        `${key}0`,
        key.toLowerCase(),
        key.toUpperCase(),
        `"${key}"`,
        `${key},${key}`,
        `sk-ody-${middle}_`,
        `sk-ody_${key.slice(7)}`,
        `%73${key.slice(1)}`,
        unknownKey,
        "' OR 1=1 --",
      ]
      for (const spelling of spellings) {
        await checkRefused(route, { authorization: `Bearer ${spelling}` })
        await checkRefused(route, { 'x-api-key': spelling })
      }
      await checkRefused(route, { authorization: key })
      await checkRefused(route, { authorization: `Bearer${key}` })
      await checkRefused(route, { authorization: `Token ${key}` })
      await checkRefused(route, { 'api-key': key, 'x-goog-api-key': key, cookie: `key=${key}` })
    })

    test('refuses a key in the address', async () => {
      const { key } = service
      for (const name of ['key', 'api_key', 'api-key', 'access_token', 'x-api-key']) {
        const path = `${route.path}?${name}=${key}`
        await checkRefused({ ...route, path }, {})
      }
      ok(!(await completeLog()).includes(key))
    })

    test('never repeats a key that it refuses', async () => {
      const secret = 'sk-proj-Abcdefghijklmnopqrstuvwxyz0123456789'
      const sent: Record<string, string>[] = [{ authorization: `Bearer ${secret}` }, { 'x-api-key': secret }]
      for (const headers of sent) {
        const { text } = await askWith(route, headers)
        for (let start = 0; start + 8 <= secret.length; start += 1)
          ok(!text.includes(secret.slice(start, start + 8)), text)
      }
      ok(!(await completeLog()).includes(secret.slice(8, 20)))
    })
  })
}

test('a refused key is shown masked in the chat format', async () => {
  const [chat] = routes
  await checkRefused(
    chat!,
    { authorization: 'Bearer sk-proj-Abcdefghijklmnopqrstuvwxyz' },
    /^Incorrect API key provided: sk-pr\*+xyz\./,
  )
  await checkRefused(chat!, { authorization: 'Bearer short-key' }, /^Incorrect API key provided: \*+\./)
})

test('the messages format names the header that was wrong', async () => {
  const messages = routes[1]!
  await checkRefused(messages, { 'x-api-key': unknownKey }, /^invalid x-api-key$/)
  await checkRefused(messages, { authorization: `Bearer ${unknownKey}` }, /^Invalid bearer token$/)
})

describe('keys made while the service runs', () => {
  test('a key works as soon as it is made and ends as soon as it is revoked', async () => {
    const { id, key } = await createKey(service, 'at once')
    match(id, /^key_/)
    match(key, /^sk-ody-[0-9A-Za-z]{38}$/)
    for (const route of routes) equal((await askWith(route, { authorization: `Bearer ${key}` })).status, 200)
    await runCli(service, 'keys', 'revoke', id)
    for (const route of routes) {
      await checkRefused(route, { authorization: `Bearer ${key}` })
      await checkRefused(route, { 'x-api-key': key })
    }
    equal((await ask(service, '/v1/models')).status, 200)
  })

  test('keys are listed without what makes them work', async () => {
    const { id, key } = await createKey(service, 'listed')
    const listed = await runCli(service, 'keys', 'list', '--json')
    ok(listed.includes(id))
    ok(!listed.includes(key) && !listed.includes(key.slice(7, 30)))
  })

  test('a revoked key ends the streams that run with it', async () => {
    // Another process on the same data folder, as a command is, but one that is up already.
    const db = await openSqlite(join(service.home, 'odyssey.db'))
    const parts = { db, clock: systemClock, hashSecret: loadSecrets(service.home).keyHashSecret }
    const home = await ensureDefaultHome(parts)
    for (const format of formats) {
      const { id, key } = await createApiKey(parts, operator, { name: `stream ${format}`, ...home })
      const messages = longMessages(30_000)
      const stream = await openFormatStream({ ...service, key }, format, bodyFor(format, { messages }))
      ok(await stream.has(/"(role|message_start)"/))
      await revokeApiKey(parts, operator, { id, ...home })
      const { text, isWhole } = await stream.ended
      equal(isWhole, false)
      match(readFrames(text).at(-1)?.data ?? '', /invalid_api_key|authentication_error/)
    }
    await db.destroy()
  })
})

test('a revoked bearer token leaves the other header its chance', async () => {
  const { id, key } = await createKey(service, 'revoked')
  await runCli(service, 'keys', 'revoke', id)
  for (const route of routes) {
    equal((await askWith(route, { authorization: `Bearer ${key}`, 'x-api-key': service.key })).status, 200)
    equal((await askWith(route, { authorization: `Bearer ${service.key}`, 'x-api-key': key })).status, 200)
  }
})

test('two keys that both work are refused together', async () => {
  const { id, key } = await createKey(service, 'second')
  for (const route of routes) await checkRefused(route, { authorization: `Bearer ${key}`, 'x-api-key': service.key })
  await runCli(service, 'keys', 'revoke', id)
})
