import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { onEachDatabase } from '../../harness/databases/databases.ts'
import { openManagementService, type Answer, type ManagementService } from '../../harness/management-service.ts'
import { providerKey } from './sso-things.ts'
import { createCompany, type Company } from './world.ts'

const dayMs = 86_400_000

onEachDatabase((database) => {
  let service: ManagementService
  let company: Company

  beforeEach(async () => {
    service = await openManagementService(await database.open())
    company = await createCompany(service.accounts)
  })
  afterEach(() => service.close())

  const create = (idempotencyKey: string, body: object, key = service.key): Promise<Answer> =>
    service.ask({
      method: 'POST',
      path: `/api/v1/organizations/${company.organizationId}/api-keys`,
      key,
      body: { projectId: company.projectId, ...body },
      headers: { 'idempotency-key': idempotencyKey },
    })
  const count = async () =>
    (
      await service.db
        .selectFrom('api_keys')
        .selectAll()
        .where('organization_id', '=', company.organizationId)
        .execute()
    ).length

  test('the same request is carried out once, and answered the same', async () => {
    const first = await create('a', { name: 'mine' })
    const again = await create('a', { name: 'mine' })
    equal(first.status, 201)
    equal(again.text, first.text)
    deepEqual([first.headers['idempotency-replayed'], again.headers['idempotency-replayed']], [undefined, 'true'])
    equal(await count(), 1)
    notEqual((await create('b', { name: 'mine' })).text, first.text)
  })

  test('another body or another path under the same idempotency key is refused', async () => {
    await create('a', { name: 'mine' })
    equal((await create('a', { name: 'yours' })).status, 409)
    const path = `/api/v1/organizations/${company.organizationId}/projects`
    const headers = { 'idempotency-key': 'a' }
    const other = await service.ask({ method: 'POST', path, key: service.key, body: { name: 'x' }, headers })
    equal(other.status, 409)
    equal(await count(), 1)
  })

  test('an idempotency key counts for whoever sent it alone', async () => {
    const other = await service.createKey('owner', company.organizationId)
    const first = await create('a', { name: 'mine' })
    const second = await create('a', { name: 'mine' }, other)
    equal(second.status, 201)
    notEqual(second.text, first.text)
  })

  test('one of many equal requests at once is carried out and all hear its answer', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create('a', { name: 'mine' })))
    deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
    equal(new Set(answers.map(({ text }) => text)).size, 1)
    equal(await count(), 1)
  })

  test('a request that failed may be sent again under its idempotency key', async () => {
    const email = { email: 'ann@example.org', name: 'Ann', role: 'auditor' }
    const path = `/api/v1/organizations/${company.organizationId}/members`
    const ask = (body: object, idempotencyKey: string) =>
      service.ask({ method: 'POST', path, key: service.key, body, headers: { 'idempotency-key': idempotencyKey } })
    equal((await ask(email, 'first')).status, 201)
    equal((await ask(email, 'second')).status, 409)
    await service.db.updateTable('members').set({ removed_at: 1 }).where('email', '=', 'ann@example.org').execute()
    equal((await ask(email, 'second')).status, 201)
  })

  test('an idempotency key is free again after a day', async () => {
    const first = await create('a', { name: 'mine' })
    service.clock.sleep(dayMs - 1)
    equal((await create('a', { name: 'mine' })).text, first.text)
    service.clock.advance(1)
    notEqual((await create('a', { name: 'mine' })).text, first.text)
    service.clock.sleep(dayMs)
    await create('b', { name: 'mine' })
    equal((await service.db.selectFrom('stored_answers').select('id').execute()).length, 1, 'Old answers are gone.')
  })

  test('no API key is stored in clear with a kept answer', async () => {
    const { key } = (await create('a', { name: 'mine' })).body
    ok(typeof key === 'string')
    const rows = JSON.stringify(await service.db.selectFrom('stored_answers').selectAll().execute())
    equal(rows.includes(key), false)
    equal(rows.includes('sk-ody'), false)
  })

  test('a request that is carried out each time refuses an idempotency key', async () => {
    const path = `/api/v1/organizations/${company.organizationId}/connections/saml`
    const provider = {
      entityId: 'https://idp.example.com/saml',
      signInUrl: 'https://idp.example.com/sso',
      certificates: [providerKey.certificate],
    }
    const body = { name: 'Entra', provider }
    const headers = { 'idempotency-key': 'a' }
    const refused = await service.ask({ method: 'POST', path, key: service.key, body, headers })
    equal(refused.status, 400)
    match(String(refused.body['detail']), /takes no Idempotency-Key/)
    const connections = () => service.db.selectFrom('connections').select('id').execute()
    deepEqual(await connections(), [])
    equal((await service.ask({ method: 'POST', path, key: service.key, body })).status, 201)
    equal((await connections()).length, 1)
  })

  test('a malformed idempotency key is refused', async () => {
    for (const key of ['', 'with space', 'x'.repeat(256)]) equal((await create(key, { name: 'mine' })).status, 400, key)
  })

  test('a change that meets a fault leaves neither itself nor an answer', async () => {
    await service.db.schema.alterTable('audit').renameTo('audit_away').execute()
    equal((await create('a', { name: 'mine' })).status, 500)
    await service.db.schema.alterTable('audit_away').renameTo('audit').execute()
    equal(await count(), 0)
    equal((await create('a', { name: 'mine' })).status, 201)
  })
})
