import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { createApiKey } from '../../../src/accounts/api-keys.ts'
import { revokeManagementKey } from '../../../src/accounts/management-keys.ts'
import { openSqlite } from '../../../src/db/open-sqlite.ts'
import { FailedAttempts } from '../../../src/http/api/failed-attempts.ts'
import { routes } from '../../../src/http/api/routes.ts'
import { openManagementService, type Answer, type ManagementService } from '../../harness/management-service.ts'
import { createManualClock } from '../../harness/manual-clock.ts'
import { createCompany, createThings, type Company } from './world.ts'

const operator = { kind: 'operator' } as const
let service: ManagementService
let company: Company

beforeEach(async () => {
  service = await openManagementService(await openSqlite(':memory:'))
  company = await createCompany(service.accounts)
})
afterEach(() => service.close())

const post = (path: string, body: unknown, headers = {}): Promise<Answer> =>
  service.ask({ method: 'POST', path, key: service.key, body, headers })
const within = (path: string) => `/api/v1/organizations/${company.organizationId}/${path}`

describe('who asks', () => {
  const path = '/api/v1/organizations'

  test('is known by a management key, in either header', async () => {
    equal((await service.ask({ path, key: service.key })).status, 200)
    equal((await service.ask({ path, headers: { 'x-api-key': service.key } })).status, 200)
    const other = await service.createKey('owner', null)
    equal((await service.ask({ path, key: service.key, headers: { 'x-api-key': service.key } })).status, 200)
    equal((await service.ask({ path, key: service.key, headers: { 'x-api-key': other } })).status, 401)
  })

  test('is not known by a key for models, nor a key for models by a management key', async () => {
    const { key } = await createApiKey(service.accounts, operator, { name: 'x', ...company })
    const answer = await service.ask({ path, key })
    equal(answer.status, 401)
    equal(answer.headers['www-authenticate'], 'Bearer')
    equal(answer.text.includes(key), false)
    equal((await service.ask({ path: '/v1/models', key })).status, 200)
    equal((await service.ask({ path: '/v1/models', key: service.key })).status, 401)
    const body = { model: 'clarke-1.0', messages: [{ role: 'user', content: 'x' }] }
    for (const route of ['/v1/messages', '/v1/chat/completions', '/v1/messages/count_tokens']) {
      equal((await service.ask({ method: 'POST', path: route, key: service.key, body })).status, 401, route)
    }
  })

  test('is nobody without a key, with one in the address, or with one that ended', async () => {
    equal((await service.ask({ path })).status, 401)
    equal((await service.ask({ path: `${path}?key=${service.key}` })).status, 401)
    const { id } = await service.db.selectFrom('management_keys').select('id').executeTakeFirstOrThrow()
    await revokeManagementKey(service.accounts, operator, { id, organizationId: null })
    equal((await service.ask({ path, key: service.key })).status, 401)
  })

  test('has a minute’s pause after twenty keys that were refused', async () => {
    const ask = (key: string, address: string) => service.ask({ path, key, address })
    for (let attempt = 0; attempt < 20; attempt++) equal((await ask('sk-odym-wrong', '192.0.2.1')).status, 401)
    const refused = await ask(service.key, '192.0.2.1')
    equal(refused.status, 429)
    ok(Number(refused.headers['retry-after']) > 0)
    equal((await ask(service.key, '192.0.2.2')).status, 200, 'Others are not concerned.')
    equal((await service.ask({ path, address: '192.0.2.1' })).status, 401, 'Whoever shows no key guesses none.')
    service.clock.advance(60_000)
    equal((await ask(service.key, '192.0.2.1')).status, 200)
  })
})

test('failed attempts are remembered of so many addresses, and of a network as one', () => {
  const clock = createManualClock()
  const attempts = new FailedAttempts(clock)
  for (let number = 0; number < 12_000; number++) attempts.count(`10.0.${number >> 8}.${number & 255}`)
  equal(attempts.size, 10_000)
  for (let number = 0; number < 20; number++) attempts.count(`2001:db8::${number.toString(16)}`)
  let refused: unknown
  try {
    attempts.require('2001:db8:0:0:ffff::1')
  } catch (error) {
    refused = error
  }
  equal((refused as { code?: string } | undefined)?.code, 'rate-limited')
  attempts.require('2001:db8:0:1::1')
  attempts.require('10.0.0.1')
})

describe('what is sent', () => {
  test('has no field that is not described', async () => {
    const fields = { id: 'org_mine', organization_id: 'org_default', organizationId: 'org_default', role: 'owner' }
    for (const { method, path, example } of routes.filter(({ body }) => body !== null)) {
      const { organizationId, projectId } = company
      const ids: Record<string, string> = { organizationId, projectId, memberId: 'mem_x', apiKeyId: 'key_x' }
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '')
      for (const [name, value] of Object.entries(fields)) {
        if (Object.hasOwn(example as object, name)) continue
        if (path === '/api/v1/prices' && name === 'organizationId') continue
        const body = { ...(example as object), [name]: value }
        const answer = await service.ask({ method, path: filled, key: service.key, body })
        equal(answer.status, 400, `${method} ${path} ${name}: ${answer.text}`)
        const errors = answer.body['errors'] as { path: string }[]
        ok(
          errors.some((error) => error.path === name),
          answer.text,
        )
      }
    }
  })

  test('has no name that shows less, or something else, than is in it', async () => {
    const named = routes.filter(({ example }) => typeof example === 'object' && example !== null && 'name' in example)
    ok(named.length >= 7, 'Organizations, projects, members and keys of either kind have names.')
    const names = [
      '\u202enimda',
      'a\u2066b',
      'a\u200eb',
      'a\u061cb',
      'ad\u200bmin',
      'a\u0007b',
      'a\ud800b',
      '\ufeffa\u00ad',
    ]
    for (const { method, path, example } of named) {
      const things: Record<string, string> = await createThings(service.accounts, {
        company,
        projectId: company.projectId,
        ownerId: company.members.developer.memberId,
      })
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => things[name] ?? '')
      for (const name of names) {
        const answer = await service.ask({
          method,
          path: filled,
          key: service.key,
          body: { ...(example as object), name },
        })
        equal(answer.status, 400, `${method} ${path} ${JSON.stringify(name)}: ${answer.text}`)
        deepEqual(
          (answer.body['errors'] as { path: string }[])?.map((error) => error.path),
          ['name'],
        )
      }
    }
  })

  test('may be about what has had such a name from before', async () => {
    const { organizationId } = company
    const old = 'a\u202eb'
    const { id } = await createApiKey(service.accounts, operator, { name: 'x', ...company })
    await service.db.updateTable('api_keys').set({ name: old }).where('id', '=', id).execute()
    const path = `/api/v1/organizations/${organizationId}/api-keys/${id}`
    equal((await service.ask({ path, key: service.key })).body['name'], old)
    const body = { models: ['clarke-1.0'] }
    equal((await service.ask({ method: 'PATCH', path, key: service.key, body })).status, 200)
    equal((await service.ask({ path, key: service.key })).body['name'], old)
  })

  test('is told of each fault where it is', async () => {
    const answer = await post(within('members'), { email: 'x', name: '', role: 'king', projectIds: ['x'] })
    equal(answer.status, 400)
    match(String(answer.headers['content-type']), /^application\/problem\+json/)
    const { errors, instance, type, title, status } = answer.body
    deepEqual(
      (errors as { path: string }[]).map(({ path }) => path),
      ['email', 'name', 'role', 'projectIds.0'],
    )
    deepEqual([instance, status], [answer.headers['x-request-id'], 400])
    deepEqual([type, title], ['urn:odyssey:problem:invalid-request', 'The request is not valid'])
    equal((await service.ask({ path: `${within('usage')}?colour=red`, key: service.key })).status, 400)
    equal((await service.ask({ path: `${within('projects')}?limit=201`, key: service.key })).status, 400)
    equal((await service.ask({ path: `${within('usage')}?from=2026-01-01T00:30:00Z`, key: service.key })).status, 400)
  })

  test('is JSON and says so', async () => {
    const path = within('projects')
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/jsonp',
      '',
    ]) {
      equal((await post(path, { name: 'x' }, { 'content-type': type })).status, 415, type)
    }
    equal((await post(path, { name: 'x' }, { 'content-type': 'application/json; charset=utf-8' })).status, 201)
    equal((await post(path, '{"name":')).status, 400)
    equal((await post(path, '[]')).status, 400)
    equal((await post(path, { name: 'x' }, { 'content-encoding': 'br' })).status, 415)
  })

  test('has 64 KiB at most', async () => {
    equal((await post(within('projects'), { name: 'x'.repeat(65_536) })).status, 413)
    equal((await post(within('projects'), { name: 'x'.repeat(65_000) })).status, 400)
    equal((await post(within('projects'), '['.repeat(60_000))).status, 400)
  })

  test('is nothing where nothing is asked for', async () => {
    const path = '/api/v1/organizations/org_default/disable'
    equal((await post(path, {})).status, 400)
    equal((await service.ask({ method: 'POST', path, key: service.key })).status, 200)
  })
})

describe('what is answered', () => {
  test('to a path or a method that is not there', async () => {
    const unknown = await service.ask({ path: '/api/v1/nothing', key: service.key })
    deepEqual([unknown.status, unknown.body['type']], [404, 'urn:odyssey:problem:not-found'])
    const wrong = await service.ask({ method: 'DELETE', path: '/api/v1/organizations', key: service.key })
    deepEqual([wrong.status, wrong.headers['allow']], [405, 'GET, POST'])
    for (const method of ['HEAD', 'OPTIONS'] as const) {
      equal((await service.ask({ method, path: '/api/v1/organizations', key: service.key })).status, 405)
    }
  })

  test('may not be read by other sites, or kept', async () => {
    const headers = { origin: 'https://example.org' }
    for (const path of ['/api/v1/organizations', '/api/v1/openapi.json', '/api/v1/nothing']) {
      const answer = await service.ask({ path, key: service.key, headers })
      equal(
        Object.keys(answer.headers).some((name) => name.startsWith('access-control-')),
        false,
      )
      deepEqual([answer.headers['cache-control'], answer.headers['x-content-type-options']], ['no-store', 'nosniff'])
    }
  })

  test('to a fault inside tells nothing of it', async () => {
    await service.db.schema.dropTable('limits').execute()
    const answer = await service.ask({ path: within('limits'), key: service.key })
    equal(answer.status, 500)
    equal(/table|limits|sql/i.test(JSON.stringify({ ...answer.body, instance: null })), false)
  })
})

describe('a list in pages', () => {
  test('has every entry once, whatever is added meanwhile', async () => {
    for (let number = 0; number < 5; number++) await post(within('projects'), { name: `p${number}` })
    const seen: string[] = []
    let after = ''
    do {
      const answer = await service.ask({ path: `${within('projects')}?limit=2${after}`, key: service.key })
      const { data, next } = answer.body as { data: { id: string }[]; next: string | null }
      seen.push(...data.map(({ id }) => id))
      after = next === null ? '' : `&after=${next}`
      service.clock.advance(1)
      if (seen.length === 2) await post(within('projects'), { name: 'added' })
    } while (after !== '')
    equal(new Set(seen).size, seen.length)
    equal(seen.length, 8, 'Two from the beginning, five, and the one that was added.')
  })

  test('takes no cursor that it has not given', async () => {
    const lists = routes.filter(({ query }) => query !== null && Object.hasOwn(query.shape, 'after'))
    equal(lists.length, 15)
    for (const { path } of lists) {
      const filled = path.replace('{organizationId}', company.organizationId)
      for (const cursor of ['x', 'bm9uc2Vuc2U', "'%20or%201=1", Buffer.from("1 ' or 1").toString('base64url')]) {
        const answer = await service.ask({ path: `${filled}?after=${cursor}`, key: service.key })
        deepEqual([answer.status, answer.body['errors'] !== undefined], [400, true], `${path} ${cursor}`)
      }
    }
  })
})
