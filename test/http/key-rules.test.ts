// What confines a key, at the door: when it ends, where it may go, which models it may ask, and from where.

import { deepEqual, doesNotMatch, equal, match, ok, rejects } from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import {
  createApiKey,
  revokeApiKey,
  rotateApiKey,
  setApiKeyDisabled,
  updateApiKey,
  type CreatedApiKey,
} from '../../src/accounts/api-keys.ts'
import { createKey } from '../../src/accounts/key-format.ts'
import type { KeyRules } from '../../src/accounts/key-rules.ts'
import { createManagementKey } from '../../src/accounts/management-keys.ts'
import {
  createOrganization,
  prioritizeOrganization,
  setOrganizationDisabled,
  type Home,
} from '../../src/accounts/organizations.ts'
import { setProjectArchived } from '../../src/accounts/projects.ts'
import { modelIds } from '../../src/core/model.ts'
import type { Priority } from '../../src/core/tier.ts'
import type { EngineRequest } from '../../src/core/generation.ts'
import type { FakeStep } from '../../src/engines/fake/fake-engine.ts'
import { ask, bodyFor, formats, paths, type Answer } from '../harness/http/ask.ts'
import { checkError, type ErrorShape, type ExpectedError } from '../harness/check-error.ts'
import { startFakeService, type FakeService } from '../harness/fake-service.ts'
import { openFormatStream, readFrames } from '../harness/http/open-stream.ts'
import type { Service } from '../harness/start-service.ts'

const operator = { kind: 'operator' } as const

let fake: FakeService
/** As `fake`, and believes what a proxy on this machine says. */
let behindProxy: FakeService

const held = Promise.withResolvers<void>()

let lastAsked: EngineRequest | null = null

/** Says its piece; when it is told to hold, it never comes to an end. */
function script(asked: EngineRequest): readonly FakeStep[] {
  lastAsked = asked
  const isHeld = JSON.stringify(asked.messages).includes('hold')
  return [
    { kind: 'block', block: { kind: 'text' }, texts: ['one ', 'two '] },
    ...(isHeld ? [{ kind: 'wait-for', event: held.promise } as const] : []),
    { kind: 'end', reason: { kind: 'end' } },
  ]
}

before(async () => {
  fake = await startFakeService({ script })
  behindProxy = await startFakeService({ script }, undefined, { trustedProxies: ['127.0.0.1'] })
})
after(async () => {
  held.resolve()
  await fake.close()
  await behindProxy.close()
})

type Route = { readonly path: string; readonly shape: ErrorShape; readonly body?: Record<string, unknown> }

const routes: readonly Route[] = [
  { path: paths.chat, shape: 'chat', body: bodyFor('chat') },
  { path: paths.messages, shape: 'messages', body: bodyFor('messages') },
  {
    path: '/v1/messages/count_tokens',
    shape: 'messages',
    body: { model: 'clarke-1.0', messages: [{ role: 'user', content: 'Hello' }] },
  },
  { path: '/v1/models', shape: 'shared' },
  { path: '/v1/models/clarke-1.0', shape: 'shared' },
]
const [chat, messages, counting, models] = routes as [Route, Route, Route, Route, Route]

const unauthenticated = (shape: ErrorShape): ExpectedError => ({
  status: 401,
  type: shape === 'chat' ? 'invalid_request_error' : 'authentication_error',
  code: 'invalid_api_key',
})
const denied = (shape: ErrorShape, message: RegExp): ExpectedError => ({
  status: 403,
  type: shape === 'chat' ? 'invalid_request_error' : 'permission_error',
  code: 'permission_denied',
  message,
  shouldRetry: 'false',
})

function create(rules: Partial<KeyRules> = {}, home: Home = fake.home, service = fake): Promise<CreatedApiKey> {
  return createApiKey(service.accounts, operator, { name: 'tested', ...home, rules })
}

function askRoute({ path, body }: Route, headers: Readonly<Record<string, string>>, service = fake): Promise<Answer> {
  const asking = { headers, key: null, ...(body !== undefined && { body }) }
  return ask(service as unknown as Service, path, asking)
}
const bearer = ({ key }: { readonly key: string }) => ({ authorization: `Bearer ${key}` })

async function checkRoutes(key: CreatedApiKey, expect: (route: Route) => ExpectedError | null): Promise<void> {
  for (const route of routes) {
    for (const headers of [bearer(key), { 'x-api-key': key.key }]) {
      const answer = await askRoute(route, headers)
      const expected = expect(route)
      if (expected === null) equal(answer.status, 200, `${route.path}: ${answer.text}`)
      else checkError(answer, route.shape, expected)
    }
  }
}

describe('a key that is over', () => {
  const refer = ({ id }: CreatedApiKey) => ({ id, organizationId: fake.home.organizationId })
  const refused = ({ shape }: Route) => unauthenticated(shape)

  test('a revoked key gets 401', async () => {
    const key = await create()
    await checkRoutes(key, () => null)
    await revokeApiKey(fake.accounts, operator, refer(key))
    await checkRoutes(key, refused)
  })

  test('a disabled key gets 401 until it is enabled again', async () => {
    const key = await create()
    await setApiKeyDisabled(fake.accounts, operator, refer(key), true)
    await checkRoutes(key, refused)
    await setApiKeyDisabled(fake.accounts, operator, refer(key), false)
    await checkRoutes(key, () => null)
  })

  test('an expired key gets 401', async () => {
    const key = await create({ expiresAtMs: Date.now() + 1_000 })
    equal((await askRoute(models, bearer(key))).status, 200)
    await new Promise((resolve) => setTimeout(resolve, 1_001))
    await checkRoutes(key, refused)
  })

  test('a rotated key and its successor both work during the overlap, then the successor alone', async () => {
    const old = await create()
    const fresh = await rotateApiKey(fake.accounts, operator, refer(old), 500)
    for (const key of [old, fresh]) equal((await askRoute(models, bearer(key))).status, 200)
    await new Promise((resolve) => setTimeout(resolve, 501))
    await checkRoutes(old, refused)
    await checkRoutes(fresh, () => null)
  })
})

test('a request waits by the class of its key, which is no better than that of its organization', async () => {
  const home = await createOrganization(fake.accounts, operator, { name: 'Prioritized' })
  const key = await create({}, home)
  const priorityOf = async () => {
    equal((await askRoute(chat, bearer(key))).status, 200)
    return lastAsked?.owner.priority
  }
  const set = (priority: Priority | null) =>
    updateApiKey(fake.accounts, operator, { id: key.id, organizationId: home.organizationId }, { priority })
  equal(await priorityOf(), 'standard')
  await set('interactive')
  equal(await priorityOf(), 'standard')
  await prioritizeOrganization(fake.accounts, operator, { ...home, priority: 'interactive' })
  equal(await priorityOf(), 'interactive')
  await set('batch')
  equal(await priorityOf(), 'batch')
  await set(null)
  equal(await priorityOf(), 'interactive')
  await rejects(set('soon' as Priority), /There is no such priority; there are interactive, standard, batch/)
})

test('a disabled organization and an archived project refuse their keys until they are opened again', async () => {
  const home = await createOrganization(fake.accounts, operator, { name: 'Other' })
  const key = await create({}, home)
  const setDisabled = (isDisabled: boolean) => setOrganizationDisabled(fake.accounts, operator, { ...home, isDisabled })
  const setArchived = (isArchived: boolean) =>
    setProjectArchived(fake.accounts, operator, { ...home, id: home.projectId }, isArchived)
  await setDisabled(true)
  await checkRoutes(key, ({ shape }) => denied(shape, /organization of this API key is disabled/))
  await setDisabled(false)
  await checkRoutes(key, () => null)
  await setArchived(true)
  await checkRoutes(key, ({ shape }) => denied(shape, /project of this API key is archived/))
  await setArchived(false)
  await checkRoutes(key, () => null)
})

describe('endpoints', () => {
  const names = ['chat-completions', 'messages', 'count-tokens', 'models'] as const
  const nameOf = ({ path }: Route) => names[['chat', 'messages', 'count', 'models'].indexOf(wordOf(path))]
  const wordOf = (path: string) =>
    path === counting.path ? 'count' : path === messages.path ? 'messages' : path === chat.path ? 'chat' : 'models'

  for (const endpoint of names) {
    test(`a key for ${endpoint} is good for nothing else`, async () => {
      const key = await create({ endpoints: [endpoint] })
      await checkRoutes(key, (route) =>
        nameOf(route) === endpoint ? null : denied(route.shape, /may not be used for this endpoint/),
      )
    })
  }

  test('are checked before the body is read', async () => {
    const key = await create({ endpoints: ['models'] })
    for (const route of [chat, messages, counting]) {
      const answer = await askRoute({ ...route, body: '{"model":' as unknown as Record<string, unknown> }, bearer(key))
      equal(answer.status, 403, route.path)
    }
  })
})

describe('models', () => {
  test('a key is refused for another model once the body is read', async () => {
    const key = await create({ models: ['tycho-1.0'] })
    for (const route of [chat, messages, counting]) {
      const as = (model: string) => askRoute({ ...route, body: { ...route.body, model } }, bearer(key))
      equal((await as('tycho-1.0')).status, 200)
      checkError(await as('hal-1.0'), route.shape, denied(route.shape, /may not use the model hal-1\.0/))
      equal((await as('gpt-4')).status, 404)
    }
  })

  test('an unknown model is answered with the names that the key may know, on every route', async () => {
    const key = await create({ models: ['tycho-1.0'] })
    const named = (text: string) => modelIds.filter((id) => text.includes(id))
    for (const { path, body } of [
      ...routes.filter(({ body: any }) => any !== undefined),
      { path: '/v1/models/gpt-x', body: undefined },
    ]) {
      const asked = body === undefined ? {} : { body: { ...body, model: 'gpt-x' } }
      for (const [each, expected] of [
        [key.key, ['tycho-1.0']],
        [fake.key, [...modelIds]],
      ] as const) {
        const answer = await ask(fake as unknown as Service, path, { ...asked, key: each })
        equal(answer.status, 404)
        deepEqual(named(answer.text), expected, answer.text)
      }
    }
  })

  test('the list of models shows those that the key may use', async () => {
    const key = await create({ models: ['tycho-1.0', 'hal-1.0'] })
    const listed = (await askRoute(models, bearer(key))).json()['data'] as { readonly id: string }[]
    deepEqual(listed.map(({ id }) => id).sort(), ['hal-1.0', 'tycho-1.0'])
    equal((await askRoute({ ...models, path: '/v1/models/hal-1.0' }, bearer(key))).status, 200)
    const hidden = await askRoute({ ...models, path: '/v1/models/clarke-1.0' }, bearer(key))
    const expected = { status: 404, type: 'not_found_error', code: 'model_not_found' } as const
    checkError(hidden, 'shared', expected)
    ok(!hidden.text.includes('tycho-1.0, clarke'), hidden.text)
  })
})

describe('addresses', () => {
  test('a key works from its addresses and from nowhere else', async () => {
    const [here, elsewhere] = [
      await create({ addresses: ['127.0.0.0/8'] }),
      await create({ addresses: ['10.0.0.0/8'] }),
    ]
    await checkRoutes(here, () => null)
    await checkRoutes(elsewhere, ({ shape }) => denied(shape, /may not be used from this address/))
  })

  test('are checked before the body is read', async () => {
    const key = await create({ addresses: ['10.0.0.0/8'] })
    const broken = { ...chat, body: '{' as unknown as Record<string, unknown> }
    equal((await askRoute(broken, bearer(key))).status, 403)
  })

  test('only a trusted proxy may say which address a request came from', async () => {
    const rules = { addresses: ['10.0.0.0/8', '2001:db8::/32'] }
    const inside = ['10.1.2.3', '203.0.113.9, 10.1.2.3', '2001:db8::7', '::ffff:10.1.2.3']
    const outside = ['203.0.113.9', '10.1.2.3, 203.0.113.9', 'unknown', '', "' OR 1=1 --", '10.1.2.3:443x', '127.0.0.1']
    const [direct, proxied] = [await create(rules), await create(rules, behindProxy.home, behindProxy)]
    for (const forwarded of [...inside, ...outside]) {
      const headers = { 'x-forwarded-for': forwarded }
      equal((await askRoute(models, { ...bearer(direct), ...headers })).status, 403, forwarded)
      const { status } = await askRoute(models, { ...bearer(proxied), ...headers }, behindProxy)
      equal(status, inside.includes(forwarded) ? 200 : 403, forwarded)
    }
  })
})

describe('two keys in one request', () => {
  test('two keys that both work are refused, whichever is in which header', async () => {
    const [wide, narrow] = [await create(), await create({ models: ['tycho-1.0'], endpoints: ['models'] })]
    for (const route of routes) {
      for (const [one, two] of [
        [wide, narrow],
        [narrow, wide],
      ] as const) {
        const answer = await askRoute(route, { ...bearer(one), 'x-api-key': two.key })
        checkError(answer, route.shape, unauthenticated(route.shape))
      }
    }
  })

  test('a key that works beside one that does not, or the same key twice, is let in', async () => {
    const key = await create()
    const over = await create()
    await revokeApiKey(fake.accounts, operator, { id: over.id, organizationId: fake.home.organizationId })
    for (const other of [over.key, createKey(), 'sk-ant-leftover-000000', 'dummy', key.key]) {
      for (const headers of [
        { ...bearer(key), 'x-api-key': other },
        { ...bearer({ key: other }), 'x-api-key': key.key },
      ]) {
        equal((await askRoute(chat, headers)).status, 200, other)
      }
    }
  })
})

test('a management key asks no models', async () => {
  const request_ = { organizationId: fake.home.organizationId, name: 'x', role: 'owner', expiresAtMs: null } as const
  const { key } = await createManagementKey(fake.accounts, operator, request_)
  match(key, /^sk-odym-[0-9A-Za-z]{38}$/)
  for (const route of routes) {
    checkError(await askRoute(route, bearer({ key })), route.shape, unauthenticated(route.shape))
  }
})

test('what looks like an injection in any header is one more wrong key, and changes nothing', async () => {
  const key = await create()
  const attacks = [
    "' OR '1'='1",
    "'; DROP TABLE api_keys; --",
    `${key.key}' --`,
    `${key.key}" OR ""="`,
    `${key.key}%00`,
    '$' + '{7*7}',
    '{"$ne":null}',
    '[$regex]=.*',
    '../../etc/passwd',
    '\\x00\\x27',
    '1; SELECT pg_sleep(5)',
    '%27%20UNION%20SELECT%20NULL--',
    'é'.repeat(40),
    'x'.repeat(3_000),
  ]
  const before = await fake.db.selectFrom('api_keys').selectAll().execute()
  for (const attack of attacks) {
    const sent = Buffer.from(attack).toString('latin1')
    for (const headers of [{ authorization: `Bearer ${sent}` }, { 'x-api-key': sent }, { authorization: sent }]) {
      for (const route of [chat, messages, models]) {
        const { status, text } = await rawAsk(route, headers)
        equal(status, 401, `${JSON.stringify(headers)}: ${text}`)
        // An id is made of random letters, which may be any word.
        doesNotMatch(text.replace(/req_\w+/g, ''), /sql|syntax|column|stack|at .*\.ts/i)
      }
    }
    const harmless = { ...bearer(key), 'x-forwarded-for': sent, 'x-request-id': sent, 'user-agent': sent }
    equal((await rawAsk(models, harmless)).status, 200, attack)
  }
  const after_ = await fake.db.selectFrom('api_keys').selectAll().execute()
  deepEqual(after_, before)
})

/** As `ask`, for header values that the usual client would refuse to send. */
function rawAsk({ path, body }: Route, headers: Record<string, string>): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST'
    const sent = request(`${fake.address}${path}`, { method, agent: false, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.once('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
  })
}

describe('a stream whose key ends', () => {
  const holding = { messages: [{ role: 'user', content: 'hold' }] }
  const types = { chat: '"code":"invalid_api_key"', messages: '"type":"authentication_error"' } as const

  for (const format of formats) {
    const open = async (key: CreatedApiKey) => {
      const service = { ...fake, key: key.key } as unknown as Service
      const stream = await openFormatStream(service, format, bodyFor(format, holding))
      ok(await stream.has(/two /))
      return stream
    }
    const ends: Readonly<Record<string, (key: CreatedApiKey, home: Home) => Promise<unknown>>> = {
      revoked: ({ id }, home) => revokeApiKey(fake.accounts, operator, { id, ...home }),
      disabled: ({ id }, home) => setApiKeyDisabled(fake.accounts, operator, { id, ...home }, true),
      expired: ({ id }, home) =>
        updateApiKey(fake.accounts, operator, { id, ...home }, { expiresAtMs: Date.now() + 200 }),
    }
    for (const [name, end] of Object.entries(ends)) {
      test(`a ${format} stream is cut when its key is ${name}, with an error event`, async () => {
        const [key, other] = [await create(), await create()]
        const [stream, neighbour] = [await open(key), await open(other)]
        await end(key, fake.home)
        const { text, isWhole } = await stream.ended
        equal(isWhole, false)
        const last = readFrames(text).at(-1)
        ok(last?.data.includes(types[format]) === true, text)
        ok(!text.includes('[DONE]') && !text.includes('message_stop'), text)
        ok(!text.includes(key.key))
        ok(!neighbour.text().includes('error'))
        neighbour.leave()
      })
    }

    test(`a ${format} stream is cut when its organization is disabled`, async () => {
      const home = await createOrganization(fake.accounts, operator, { name: 'Other' })
      const stream = await open(await create({}, home))
      await setOrganizationDisabled(fake.accounts, operator, { ...home, isDisabled: true })
      const { text, isWhole } = await stream.ended
      equal(isWhole, false)
      match(readFrames(text).at(-1)?.data ?? '', /permission_(denied|error)/)
    })
  }
})

test('a whole answer whose key ends is refused', async () => {
  const key = await create()
  const body = bodyFor('messages', { messages: [{ role: 'user', content: 'hold' }] })
  const answer = askRoute({ ...messages, body }, bearer(key))
  await new Promise((resolve) => setTimeout(resolve, 100))
  await revokeApiKey(fake.accounts, operator, { id: key.id, organizationId: fake.home.organizationId })
  checkError(await answer, 'messages', unauthenticated('messages'))
})
