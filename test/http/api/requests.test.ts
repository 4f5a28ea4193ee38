import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createApiKey } from '../../../src/accounts/api-keys.ts'
import { revokeManagementKey } from '../../../src/accounts/management-keys.ts'
import { openMemoryDatabase } from '../../harness/databases/memory-database.ts'
import { FailedAttempts } from '../../../src/http/api/failed-attempts.ts'
import type { Route } from '../../../src/http/api/route.ts'
import { routes } from '../../../src/http/api/routes.ts'
import { signInPerson } from '../../harness/sign-in.ts'
import { openManagementService, type Answer, type ManagementService } from '../../harness/management-service.ts'
import { ledgerRow } from '../../harness/databases/ledger-row.ts'
import { createManualClock } from '../../harness/manual-clock.ts'
import { fillPath, keyFor, peoplesRoutes, permittedRoutes } from './ask-route.ts'
import { createThings } from './things.ts'
import { createCompany, type Company } from './world.ts'

const operator = { kind: 'operator' } as const
let service: ManagementService
let company: Company

beforeEach(async () => {
  service = await openManagementService(await openMemoryDatabase())
  company = await createCompany(service.accounts)
})
afterEach(() => service.close())

const post = (path: string, body: unknown, headers = {}): Promise<Answer> =>
  service.ask({ method: 'POST', path, key: service.key, body, headers })
/** A person's own browser for what no key opens. */
const askerFor = (route: Route, headers: Readonly<Record<string, string>>) =>
  peoplesRoutes.includes(route) ? { headers } : { key: keyFor(service, route) }
const within = (path: string) => `/api/v1/organizations/${company.organizationId}/${path}`

describe('who asks', () => {
  const path = '/api/v1/organizations'

  test('a management key is accepted in either header', async () => {
    equal((await service.ask({ path, key: service.key })).status, 200)
    equal((await service.ask({ path, headers: { 'x-api-key': service.key } })).status, 200)
    const other = await service.createKey('owner', null)
    equal((await service.ask({ path, key: service.key, headers: { 'x-api-key': service.key } })).status, 200)
    equal((await service.ask({ path, key: service.key, headers: { 'x-api-key': other } })).status, 401)
  })

  test('a key for models manages nothing, and a management key asks no models', async () => {
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

  test('a request without a key, with one in the address, or with one that ended gets 401', async () => {
    equal((await service.ask({ path })).status, 401)
    equal((await service.ask({ path: `${path}?key=${service.key}` })).status, 401)
    const { id } = await service.db.selectFrom('management_keys').select('id').executeTakeFirstOrThrow()
    await revokeManagementKey(service.accounts, operator, { id, organizationId: null })
    equal((await service.ask({ path, key: service.key })).status, 401)
  })

  test('a right key is answered at once where wrong ones of its address are held back', async () => {
    const ask = (key: string, address: string) => service.ask({ path, key, address })
    for (let attempt = 0; attempt < 20; attempt++) equal((await ask('sk-odym-wrong', '192.0.2.1')).status, 401)
    let answered = 0
    const held = [1, 2].map(async () => {
      equal((await ask('sk-odym-wrong', '192.0.2.1')).status, 401)
      answered += 1
    })
    equal((await ask(service.key, '192.0.2.1')).status, 200)
    equal((await ask('sk-odym-wrong', '192.0.2.2')).status, 401, 'The wrong keys of others are not concerned.')
    equal((await service.ask({ path, address: '192.0.2.1' })).status, 401, 'Whoever shows no key guesses none.')
    equal(answered, 0)
    service.clock.advance(3_000)
    await Promise.race(held)
    equal(answered, 1)
    service.clock.advance(3_000)
    await Promise.all(held)
  })

  test('wrong keys are held back in all, wherever they come from', async () => {
    const attempts = new FailedAttempts(service.clock)
    for (let number = 0; number < 200; number++) await attempts.hold(`198.51.100.${number}`)
    let isHeld = true
    const last = attempts.hold('203.0.113.1').then(() => (isHeld = false))
    equal((await service.ask({ path, key: service.key })).status, 200)
    ok(isHeld)
    service.clock.advance(300)
    await last
  })

  test('no wrong key is held back for more than ten seconds', async () => {
    const attempts = new FailedAttempts(service.clock)
    const flood = Promise.all(Array.from({ length: 10_000 }, () => attempts.hold('192.0.2.1')))
    service.clock.advance(10_000)
    await flood
  })
})

test('failed attempts are remembered for a bounded number of addresses, and for a /64 network as one', async () => {
  const clock = createManualClock()
  const attempts = new FailedAttempts(clock)
  const isAnsweredAtOnce = (address: string) =>
    Promise.race([attempts.hold(address).then(() => true), setImmediate(false)])
  const network = (number: number) => `10.0.${number >> 8}.${number & 255}`
  for (let number = 0; number < 12_000; number++) {
    void attempts.hold(network(number))
    clock.advance(300)
  }
  equal(attempts.size, 10_000)
  for (let number = 0; number < 20; number++) ok(await isAnsweredAtOnce(`2001:db8::${number.toString(16)}`))
  equal(await isAnsweredAtOnce('2001:db8:0:0:ffff::1'), false)
  ok(await isAnsweredAtOnce('2001:db8:0:1::1'))
})

describe('what is sent', () => {
  test('a body with a field that is not described is refused', async () => {
    const fields = { id: 'org_mine', organization_id: 'org_default', organizationId: 'org_default', role: 'owner' }
    const { headers } = await signInPerson(service.accounts, {})
    const { projectId, members } = company
    const things = await createThings(service.accounts, { company, projectId, ownerId: members.developer.memberId })
    for (const route of routes.filter(({ body }) => body !== null)) {
      const { method, path, example } = route
      const filled = await fillPath(service, route, things)
      for (const [name, value] of Object.entries(fields)) {
        if (Object.hasOwn(example as object, name)) continue
        // A price and a promise are for one organization where they name it.
        if (/\/(?:prices|objectives)$/.test(path) && name === 'organizationId') continue
        const body = { ...(example as object), [name]: value }
        const answer = await service.ask({ method, path: filled, ...askerFor(route, headers), body })
        equal(answer.status, 400, `${method} ${path} ${name}: ${answer.text}`)
        const errors = answer.body['errors'] as { path: string }[]
        ok(
          errors.some((error) => error.path === name),
          answer.text,
        )
      }
    }
  })

  test('a name with invisible characters is refused', async () => {
    const named = permittedRoutes.filter(
      ({ example }) => typeof example === 'object' && example !== null && 'name' in example,
    )
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
    const { projectId, members } = company
    const things = await createThings(service.accounts, { company, projectId, ownerId: members.developer.memberId })
    for (const route of named) {
      const { method, path, example } = route
      const filled = await fillPath(service, route, things)
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

  test('what had a name with invisible characters before can still be changed', async () => {
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

  test('each fault of a body is told with its place', async () => {
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

  test('a body that is no JSON, or does not say so, is refused', async () => {
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

  test('a body beyond 64 KiB is refused', async () => {
    equal((await post(within('projects'), { name: 'x'.repeat(65_536) })).status, 413)
    equal((await post(within('projects'), { name: 'x'.repeat(65_000) })).status, 400)
    equal((await post(within('projects'), '['.repeat(60_000))).status, 400)
  })

  test('a body is refused where none is asked for', async () => {
    const path = '/api/v1/organizations/org_default/disable'
    equal((await post(path, {})).status, 400)
    equal((await service.ask({ method: 'POST', path, key: service.key })).status, 200)
  })
})

describe('what is answered', () => {
  test('a path or a method that is not there gets 404 or 405', async () => {
    const unknown = await service.ask({ path: '/api/v1/nothing', key: service.key })
    deepEqual([unknown.status, unknown.body['type']], [404, 'urn:odyssey:problem:not-found'])
    const wrong = await service.ask({ method: 'DELETE', path: '/api/v1/organizations', key: service.key })
    deepEqual([wrong.status, wrong.headers['allow']], [405, 'GET, POST'])
    for (const method of ['HEAD', 'OPTIONS'] as const) {
      equal((await service.ask({ method, path: '/api/v1/organizations', key: service.key })).status, 405)
    }
  })

  test('answers may not be read by other sites, or kept by caches', async () => {
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

  test('the answer to a fault inside tells nothing of it', async () => {
    await service.db.schema.dropTable('limits').execute()
    const answer = await service.ask({ path: within('limits'), key: service.key })
    equal(answer.status, 500)
    equal(/table|limits|sql/i.test(JSON.stringify({ ...answer.body, instance: null })), false)
  })
})

describe('a list in pages', () => {
  test('a list in pages has every entry once, whatever is added meanwhile', async () => {
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

  test('the cursor of a ledger does not tell how much other organizations use', async () => {
    const other = await createCompany(service.accounts)
    const rowOf = ({ organizationId, projectId }: Company, number: number) => ({
      ...ledgerRow(number),
      organization_id: organizationId,
      project_id: projectId,
    })
    const rows = Array.from({ length: 123 }, (_, number) => rowOf(other, number))
    await service.db
      .insertInto('ledger')
      .values([...rows, rowOf(company, 901), rowOf(company, 902)])
      .execute()
    const first = await service.ask({ path: `${within('ledger')}?limit=1`, key: service.key })
    const next = String(first.body['next'])
    equal(/12[45]/.test(Buffer.from(next, 'base64url').toString('latin1')), false)
    const second = await service.ask({ path: `${within('ledger')}?limit=1&after=${next}`, key: service.key })
    deepEqual([(second.body['data'] as unknown[]).length, second.body['next']], [1, null])
    const elsewhere = `/api/v1/organizations/${other.organizationId}/ledger?after=${next}`
    equal((await service.ask({ path: elsewhere, key: service.key })).status, 400)
  })

  test('a list in pages refuses a cursor that it has not given', async () => {
    const lists = routes.filter(({ query }) => query !== null && Object.hasOwn(query.shape, 'after'))
    equal(lists.length, 27)
    for (const { path } of lists) {
      const filled = path.replace('{organizationId}', company.organizationId)
      for (const cursor of ['x', 'bm9uc2Vuc2U', "'%20or%201=1", Buffer.from("1 ' or 1").toString('base64url')]) {
        const answer = await service.ask({ path: `${filled}?after=${cursor}`, key: service.key })
        deepEqual([answer.status, answer.body['errors'] !== undefined], [400, true], `${path} ${cursor}`)
      }
    }
  })
})
