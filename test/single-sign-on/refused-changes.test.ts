// What administrators, directories and people ask for of members, sessions and ways to sign in, and do not get.

import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createApiKey } from '../../src/accounts/api-keys.ts'
import { createDirectory, rotateDirectoryToken } from '../../src/accounts/directory/directories.ts'
import { setMemberSuspended } from '../../src/accounts/leaving/suspend-member.ts'
import { createManagementKey } from '../../src/accounts/management-keys.ts'
import { createMember, findMemberPrincipal } from '../../src/accounts/members.ts'
import { createConnection, updateConnection } from '../../src/accounts/single-sign-on/connections.ts'
import { listConnections } from '../../src/accounts/single-sign-on/read-connections.ts'
import { enforceConnection } from '../../src/accounts/single-sign-on/enforcement.ts'
import { createSamlConnection } from '../../src/accounts/single-sign-on/saml/saml-connections.ts'
import { readNext } from '../../src/accounts/single-sign-on/flows.ts'
import { readGroups } from '../../src/accounts/single-sign-on/group-mappings.ts'
import { totpCode } from '../../src/accounts/sign-in/totp.ts'
import type { MemberId } from '../../src/core/ids.ts'
import { openMemoryDatabase } from '../harness/databases/memory-database.ts'
import { createTestSso, testSignIn } from '../harness/management.ts'
import { openManagementService, type Answer } from '../harness/management-service.ts'
import { samePage, signInPerson, type SignedInPerson } from '../harness/sign-in.ts'
import { newConnection, providerKey } from '../http/api/sso-things.ts'
import { newSamlConnection } from './saml/open-saml.ts'
import { openDirectory, type TestDirectory } from './directory/open-directory.ts'

let directory: TestDirectory
before(async () => {
  directory = await openDirectory(await openMemoryDatabase())
})
after(() => directory.service.close())

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
const faultOf = ({ body }: Answer) => (body['errors'] as readonly { readonly path: string }[] | undefined)?.[0]?.path
const ask = (method: Method, path: string, body?: unknown) =>
  directory.service.ask({
    method,
    path: `/api/v1/organizations/${directory.organizationId}${path}`,
    key: directory.service.key,
    ...(body !== undefined && { body }),
  })

describe('sessions of a member', () => {
  const sessions = async (memberId: MemberId) => {
    const { body } = await ask('GET', `/members/${memberId}/sessions`)
    return (body['data'] as readonly { readonly id: string }[]).map(({ id }) => id)
  }

  test('are none for whom nobody has signed in as, and not there for whom nobody is', async () => {
    const memberId = await directory.member('quiet@acme.example')
    deepEqual(await sessions(memberId), [])
    for (const method of ['GET', 'DELETE'] as const) {
      equal((await ask(method, '/members/mem_none/sessions')).status, 404)
    }
    equal((await ask('DELETE', `/members/${memberId}/sessions`)).status, 204)
  })

  test('end one by one, by the id of one that is theirs', async () => {
    const memberId = await directory.member('two@acme.example')
    const other = await directory.member('other@acme.example')
    const person = await signInPerson(directory.service.accounts, { memberId })
    const stranger = await signInPerson(directory.service.accounts, { memberId: other })
    equal((await ask('DELETE', `/members/${memberId}/sessions/${stranger.sessionId}`)).status, 404)
    deepEqual(await sessions(memberId), [person.sessionId])
    equal((await ask('DELETE', `/members/${memberId}/sessions/${person.sessionId}`)).status, 204)
    deepEqual([await sessions(memberId), await sessions(other)], [[], [stranger.sessionId]])
  })
})

describe('a directory', () => {
  test('makes no owners, and another one is not there', async () => {
    const refused = await ask('POST', '/directories', { name: 'D', defaultRole: 'owner' })
    deepEqual([refused.status, faultOf(refused)], [400, 'defaultRole'], refused.text)
    const own = `/directories/${directory.id}`
    equal((await ask('PATCH', own, { defaultRole: 'owner' })).status, 400)
    const another = await directory.another()
    for (const [method, path, body] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/rotate', {}],
      ['GET', '/groups'],
      ['GET', '/conflicts'],
    ] as const) {
      equal((await ask(method, `/directories/${another.id}${path}`, body)).status, 404, `${method} ${path}`)
    }
  })

  test('maps each group once, and to no owner', async () => {
    const mapping = { group: 'a', role: 'developer', projectIds: [] }
    for (const data of [
      [mapping, mapping],
      [{ ...mapping, role: 'owner' }],
      [{ ...mapping, projectIds: ['proj_none'] }],
    ]) {
      const refused = await ask('PUT', `/directories/${directory.id}/group-mappings`, { data })
      equal(refused.status >= 400 && refused.status < 500, true, refused.text)
    }
  })

  test('leaves owners what they are, whatever their groups give', async () => {
    const email = `owner@acme1.example`
    const { ownerId } = directory
    const row = await directory.readMember(ownerId)
    const adopted = await directory.ask('POST', '/Users', { userName: row.email })
    equal(adopted.status, 201, adopted.text)
    await directory.group('demoting', [ownerId])
    const data = [{ group: 'demoting', role: 'auditor', projectIds: [] }]
    equal((await ask('PUT', `/directories/${directory.id}/group-mappings`, { data })).status, 200)
    equal((await directory.readMember(ownerId)).role, 'owner', email)
    await ask('PUT', `/directories/${directory.id}/group-mappings`, { data: [] })
  })

  const refusals: readonly (readonly [what: string, path: string, body: unknown, status: number, said: RegExp])[] = [
    [
      'a group in a group',
      '/Groups',
      { displayName: 'g1', members: [{ value: 'grp_1', type: 'Group' }] },
      400,
      /users alone/,
    ],
    ['a member without an id', '/Groups', { displayName: 'g2', members: [{ display: 'Ann' }] }, 400, /id of a user/],
    ['a user without any address', '/Users', { userName: 'ann' }, 400, /emails/],
    ['a user with no address that is one', '/Users', { userName: 'ann', emails: [{ type: 'work' }] }, 400, /emails/],
    ['a user without a name', '/Users', { emails: [{ value: 'a@acme.example' }] }, 400, /userName/],
    [
      'a user with an external id of nothing',
      '/Users',
      { userName: 'x@acme.example', externalId: ' ' },
      400,
      /externalId/,
    ],
  ]
  for (const [what, path, body, status, said] of refusals) {
    test(`does not make ${what}`, async () => {
      const refused = await directory.ask('POST', path, body)
      equal(refused.status, status, refused.text)
      match(refused.text, said)
    })
  }

  test('makes one group of an id of its own, and one user of an address', async () => {
    equal((await directory.ask('POST', '/Groups', { displayName: 'first', externalId: 'e1' })).status, 201)
    const group = await directory.ask('POST', '/Groups', { displayName: 'second', externalId: 'e1' })
    deepEqual([group.status, /externalId/.test(group.text)], [409, true], group.text)
    const emails = [{ value: 'shared@acme.example', primary: true }]
    const one = await directory.user({ emails })
    const user = await directory.ask('POST', '/Users', { userName: 'second@acme.example', emails })
    deepEqual([user.status, /e-mail address/.test(user.text)], [409, true], user.text)
    const other = await directory.user({ emails: [{ value: 'own@acme.example' }] })
    const moved = await directory.patch(`/Users/${other.id}`, { op: 'replace', path: 'emails', value: emails })
    deepEqual([moved.status, /Another member/.test(moved.text)], [409, true], moved.text)
    equal((await directory.readMember(one.id)).email, 'shared@acme.example')
  })
})

describe('a way to sign in', () => {
  let person: SignedInPerson
  const me = (method: Method, path: string, body?: unknown) => {
    const sent = { method, path: `/api/v1/me${path}`, headers: person.headers }
    return directory.service.ask({ ...sent, ...(body !== undefined && { body }) })
  }
  const password = 'a long enough passphrase'
  before(async () => {
    person = await signInPerson(directory.service.accounts, {})
  })

  test('by an authenticator app comes after a password, counts once a code has come, and is there once', async () => {
    equal((await me('POST', '/totp')).status, 409)
    equal((await me('POST', '/totp/confirm', { code: '123456' })).status, 404)
    equal((await me('DELETE', '/totp')).status, 404)
    equal((await me('PUT', '/password', { password: 'short' })).status, 400)
    const set = await me('PUT', '/password', { password })
    equal(set.status < 300, true, set.text)
    await me('POST', '/totp')
    const { body } = await me('POST', '/totp')
    equal((await me('POST', '/totp/confirm', { code: '000000' })).status, 400)
    const code = totpCode(String(body['secret']), Math.floor(directory.service.clock.nowMs() / 30_000))
    const confirmed = await me('POST', '/totp/confirm', { code })
    equal(confirmed.status < 300, true, confirmed.text)
    equal((await me('POST', '/totp')).status, 409)
    equal((await me('POST', '/totp/confirm', { code })).status, 404)
  })

  test('that is not there is not taken away, and the last one is not', async () => {
    equal((await me('DELETE', '/passkeys/none')).status, 404)
    equal((await me('DELETE', '/password')).status, 409)
  })

  test('by a password is none where passwords are switched off', async () => {
    const signIn = { ...testSignIn, passwords: 'off' as const }
    const service = await openManagementService(await openMemoryDatabase(), { signIn })
    const { headers } = await signInPerson(service.accounts, {})
    const set = await service.ask({ method: 'PUT', path: '/api/v1/me/password', headers, body: { password } })
    equal(set.status, 400, set.text)
    const body = { email: 'ann@acme.example', password }
    const tried = await service.ask({ method: 'POST', path: '/api/v1/session/password', headers, body })
    equal(tried.status, 404, tried.text)
    await service.close()
  })

  test('is no password that is left of a time when they were taken, nor is a recovery code held back by one', async () => {
    const signIn = { ...testSignIn, passwords: 'off' as const }
    const service = await openManagementService(await openMemoryDatabase(), { signIn })
    const { user, headers } = await signInPerson(service.accounts, {})
    const { db } = service
    const user_id = user.userId
    await db.insertInto('passwords').values({ user_id, phc: '', changed_at: 0 }).execute()
    const key = { rp_id: 'ai.example.com', public_key: '', counter: 0, transports: '[]', is_backed_up: 0, name: 'P' }
    await db
      .insertInto('passkeys')
      .values({ id: 'only', user_id, ...key, created_at: 0, last_used_at: 0 })
      .execute()
    const removed = await service.ask({ method: 'DELETE', path: '/api/v1/me/passkeys/only', headers })
    equal(removed.status, 409, removed.text)
    const { body } = await service.ask({ method: 'POST', path: '/api/v1/me/recovery-codes', headers })
    const [recoveryCode] = body['codes'] as readonly string[]
    const { email } = await db
      .selectFrom('user_emails')
      .select('email')
      .where('user_id', '=', user_id)
      .executeTakeFirstOrThrow()
    const path = '/api/v1/session/recovery'
    const recovered = await service.ask({ method: 'POST', path, headers: samePage, body: { email, recoveryCode } })
    equal(recovered.status, 200, recovered.text)
    await service.close()
  })
})

test('whoever was suspended while they asked makes nothing that would outlive them', async () => {
  const { service, organizationId } = directory
  const { accounts } = service
  const parts = { ...accounts, signIn: testSignIn, sso: createTestSso(accounts) }
  const id = await directory.member('leaving@acme.example', 'owner')
  const owner = await findMemberPrincipal(accounts, id)
  if (owner === null) throw new Error('The owner is not let in.')
  const connectionId = await createConnection(parts, owner, { ...newConnection, organizationId })
  const reference = { id: connectionId, organizationId }
  await setMemberSuspended(accounts, { kind: 'operator' }, { id, organizationId }, true)
  const settings = { organizationId, name: 'Directory', defaultRole: 'developer' } as const
  const source = { entityId: 'https://idp.example.com', signInUrl: 'https://idp.example.com/', signOutUrl: null }
  const saml = { ...newSamlConnection, organizationId, source: { ...source, certificates: [providerKey.certificate] } }
  const works: readonly (() => Promise<unknown>)[] = [
    () => createDirectory(accounts, owner, settings),
    () => rotateDirectoryToken(accounts, owner, { id: directory.id, organizationId }, 0),
    () => createConnection(parts, owner, { ...newConnection, organizationId }),
    () => updateConnection(parts, owner, reference, { clientSecret: 'other' }),
    () => enforceConnection(parts, owner, { ...reference, breakGlassId: id }),
    () => createSamlConnection(parts, owner, saml),
    () => createApiKey(accounts, owner, { name: 'k', organizationId, projectId: 'proj_none', ownerId: id }),
    () => createManagementKey(accounts, owner, { organizationId, name: 'k', role: 'owner', expiresAtMs: null }),
  ]
  for (const work of works) {
    await rejects(work(), { code: 'unauthenticated' }, work.toString())
  }
})

test('connections are told to nobody who may not see them', async () => {
  const { service, organizationId } = directory
  const id = await directory.member('curious@acme.example', 'developer')
  const developer = await findMemberPrincipal(service.accounts, id)
  if (developer === null) throw new Error('The developer is not let in.')
  await rejects(listConnections(service.accounts, developer, organizationId), /connections:read/)
})

test('a page that somebody is sent on to is one of this service', () => {
  for (const [given, read] of [
    ['/keys?a=1#b', '/keys?a=1#b'],
    ['/a/../b', '/b'],
    ['/..//evil.example', '/'],
    ['/.//evil.example', '/'],
    ['//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['/a%5cb', '/'],
    ['/a b', '/'],
    [`/${'a'.repeat(2_000)}`, '/'],
    [7, '/'],
  ] as const) {
    equal(readNext(given), read, String(given).slice(0, 40))
  }
})

test('groups that a provider does not name whole say nothing', () => {
  deepEqual(readGroups({ groups: ['a', 'b'] }, 'groups'), ['a', 'b'])
  for (const claims of [
    {},
    { groups: 'a' },
    { groups: ['a', 7] },
    { groups: Array.from({ length: 2_001 }, String) },
    { groups: ['a'], hasgroups: true },
    { groups: ['a'], _claim_names: { groups: 'src1' } },
  ]) {
    equal(readGroups(claims, 'groups'), null, JSON.stringify(claims).slice(0, 60))
  }
  deepEqual(readGroups({ groups: ['a'], _claim_names: { others: 'src1' } }, 'groups'), ['a'])
  deepEqual(readGroups({ groups: ['a'], _claim_names: null }, 'groups'), ['a'])
})

test('a member is made once for an address', async () => {
  const { service, organizationId } = directory
  const wanted = { organizationId, email: 'once@acme.example', name: 'M', role: 'developer' } as const
  await createMember(service.accounts, { kind: 'operator' }, wanted)
  const again = await createMember(service.accounts, { kind: 'operator' }, wanted).then(
    () => 'made',
    (error: Error) => error.message,
  )
  match(again, /address|member/i)
})
