// Connections and domains as an organization's administrators make and change them.

import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { updateConnection } from '../../src/accounts/single-sign-on/connections.ts'
import { trustDomain } from '../../src/accounts/single-sign-on/domains.ts'
import { enforceConnection } from '../../src/accounts/single-sign-on/enforcement.ts'
import { findMemberPrincipal } from '../../src/accounts/members.ts'
import { createOrganization } from '../../src/accounts/organizations.ts'
import type { ConnectionId, MemberId, OrganizationId, UserId } from '../../src/core/ids.ts'
import { openMemoryDatabase } from '../harness/databases/memory-database.ts'
import { testSignIn } from '../harness/management.ts'
import type { Answer } from '../harness/management-service.ts'
import { signInPerson } from '../harness/sign-in.ts'
import { addDomains, addTriedConnection, copyAsSaml } from '../http/api/sso-things.ts'
import { createCompany, type Company } from '../http/api/world.ts'
import { openSso, type Sso } from './open-sso.ts'

const operator = { kind: 'operator' } as const
const dayMs = 86_400_000

type Fields = Readonly<Record<string, unknown>>

let sso: Sso
let company: Company
before(async () => {
  sso = await openSso(await openMemoryDatabase())
  company = sso.company
})
after(() => sso.close())

const base = (organizationId: OrganizationId = company.organizationId) => `/api/v1/organizations/${organizationId}`
const ask = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown, key = sso.service.key) =>
  sso.service.ask({ method, path: base() + path, key, ...(body !== undefined && { body }) })
const parts = () => ({ ...sso.service.accounts, signIn: testSignIn })
const faultOf = ({ body }: Answer) => (body['errors'] as readonly { readonly path: string }[] | undefined)?.[0]?.path

const okta = { name: 'Okta', issuer: 'https://acme.okta.com', clientId: 'odyssey', clientSecret: 'a first secret' }

async function make(fields: Fields = {}): Promise<string> {
  const { status, body, text } = await ask('POST', '/connections', { ...okta, ...fields })
  equal(status, 201, text)
  return body['id'] as string
}

describe('a connection', () => {
  for (const [what, fields, field] of [
    ['with something behind the path of its issuer', { issuer: 'https://idp.example.com/?tenant=acme' }, 'issuer'],
    ['with a part of a page in its issuer', { issuer: 'https://idp.example.com/#a' }, 'issuer'],
    ['with a user in its issuer', { issuer: 'https://ann@idp.example.com/' }, 'issuer'],
    ['for all tenants of Entra', { issuer: 'https://login.microsoftonline.com/common/v2.0' }, 'issuer'],
    ['for all companies of Entra', { issuer: 'https://login.microsoftonline.com/organizations/v2.0' }, 'issuer'],
    ['for everybody at Microsoft', { issuer: 'https://login.microsoftonline.com/consumers/v2.0' }, 'issuer'],
    ['with the place of a tenant', { issuer: 'https://login.microsoftonline.com/%7Btenantid%7D/v2.0' }, 'issuer'],
    ['for everybody at Google', { issuer: 'https://accounts.google.com' }, 'tenant'],
    ['that makes owners', { defaultRole: 'owner' }, 'defaultRole'],
    ['without a name', { name: ' ' }, 'name'],
  ] as const) {
    test(`is not made ${what}`, async () => {
      const refused = await ask('POST', '/connections', { ...okta, ...fields })
      deepEqual([refused.status, faultOf(refused)], [400, field], refused.text)
    })
  }

  test('of Google keeps the tenant that it is for', async () => {
    const id = await make({ issuer: 'https://accounts.google.com', tenant: 'acme.example' })
    const { status, body } = await ask('PATCH', `/connections/${id}`, { tenant: null })
    equal(status, 400, JSON.stringify(body))
    equal((await ask('GET', `/connections/${id}`)).body['tenant'], 'acme.example')
  })

  test('is changed where something is said and nowhere else, and its secret is not told', async () => {
    const id = await make()
    const before = (await ask('GET', `/connections/${id}`)).body
    const changed = await ask('PATCH', `/connections/${id}`, {
      name: 'Other',
      defaultRole: 'auditor',
      makesMembers: true,
    })
    deepEqual(changed.body, { ...before, name: 'Other', defaultRole: 'auditor', makesMembers: true })
    const secret = await ask('PATCH', `/connections/${id}`, { clientSecret: 'a second secret' })
    deepEqual(secret.body, changed.body)
    await ask('PATCH', `/connections/${id}`, { clientSecret: 'a second secret' })
    const rows = await sso.service.db
      .selectFrom('audit')
      .select('after')
      .where('target', '=', id)
      .where('action', '=', 'connections:update')
      .orderBy('sequence')
      .execute()
    const said = rows.map(({ after: text }) => (JSON.parse(text ?? '{}') as Fields)['client_secret'])
    deepEqual(said, [undefined, 'changed', undefined])
    equal((await ask('PATCH', `/connections/${id}`, { defaultRole: 'owner' })).status, 400)
    const reference = { id, organizationId: company.organizationId }
    const owners = updateConnection(parts(), operator, reference, { defaultRole: 'owner' })
    await rejects(owners, /No connection makes owners/)
  })

  test('that is switched on again ends no session, and one that is switched off ends those that it began', async () => {
    const id = await sso.connect()
    const browser = sso.browser()
    await browser.back(id, sso.provider.authorize(await browser.begin(id)))
    const status = async () => (await browser.ask('GET', 'session')).status
    equal(await status(), 200)
    equal((await ask('POST', `/connections/${id}/enable`)).status, 200)
    equal(await status(), 200)
    equal((await ask('POST', `/connections/${id}/disable`)).status, 200)
    equal(await status(), 401)
    equal((await ask('POST', `/connections/${id}/enable`)).status, 200)
    equal(await status(), 401, 'What has ended does not begin again.')
  })

  test('gives nobody a role that whoever makes it has not', async () => {
    const admin = await sso.service.createKey('admin', company.organizationId)
    const made = await ask('POST', '/connections', { ...okta, defaultRole: 'admin' }, admin)
    equal(made.status, 201, made.text)
    const auditor = await sso.service.createKey('auditor', company.organizationId)
    equal((await ask('POST', '/connections', okta, auditor)).status, 403)
  })

  test('that speaks SAML has nothing of OpenID Connect', async () => {
    const id = await copyAsSaml(sso.service.accounts, (await make()) as `conn_${string}`)
    const { body } = await ask('GET', `/connections/${id}`)
    const { clientId, tokenAuth, signingAlgorithm, scopes, signedOutUri } = body
    deepEqual([clientId, tokenAuth, signingAlgorithm, scopes, signedOutUri], [null, null, null, null, null])
    for (const field of ['clientId', 'clientSecret', 'scopes', 'tenant'] as const) {
      const refused = await ask('PATCH', `/connections/${id}`, { [field]: 'x' })
      deepEqual([refused.status, faultOf(refused)], [400, field], refused.text)
    }
    equal((await ask('PATCH', `/connections/${id}`, { name: 'SAML' })).status, 200)
    const saml = await ask('PATCH', `/connections/${id}/saml`, { forcesSignIn: true })
    deepEqual([saml.status, saml.body['forcesSignIn'], saml.body['verifiesEmails']], [200, true, true], saml.text)
    equal((await ask('GET', `/connections/${await make()}/saml`)).status, 409)
  })

  test('stands in the list in the order in which it was made, and is gone when it is removed', async () => {
    const ids = [await make(), await make()]
    const list = async () => {
      const { body } = await ask('GET', '/connections')
      return (body['data'] as readonly { readonly id: string }[]).map(({ id }) => id)
    }
    deepEqual((await list()).filter((id) => ids.includes(id)).toSorted(), ids.toSorted())
    equal((await ask('DELETE', `/connections/${ids[0]}`)).status, 204)
    equal((await list()).includes(ids[0] ?? ''), false)
    for (const method of ['GET', 'DELETE'] as const) equal((await ask(method, `/connections/${ids[0]}`)).status, 404)
  })

  test('of another organization is not there', async () => {
    const id = await make()
    const { organizationId } = await createOrganization(sso.service.accounts, operator, { name: 'Other' })
    for (const path of [
      `${base(organizationId)}/connections/${id}`,
      `${base(organizationId)}/connections/${id}/saml`,
    ]) {
      equal((await sso.service.ask({ path, key: sso.service.key })).status, 404)
    }
  })
})

describe('the only way in', () => {
  let own: Company
  let connectionId: string
  let ownerId: MemberId
  const enforce = (breakGlassId: MemberId = ownerId, id = connectionId) =>
    enforceConnection(parts(), operator, { id, organizationId: own.organizationId, breakGlassId }).then(
      () => 'enforced',
      (error: Error) => error.message,
    )
  const change = (path: string, method: 'POST' | 'DELETE' = 'POST') =>
    sso.service.ask({ method, path: `${base(own.organizationId)}/connections/${path}`, key: sso.service.key })
  before(async () => {
    own = await createCompany(sso.service.accounts)
    await addDomains(sso.service.accounts, own.organizationId)
    const tried = await addTriedConnection(sso.service.accounts, own)
    connectionId = tried.connectionId
    ownerId = tried.breakGlassId
  })

  test('has to be tried by the member who asks for it', async () => {
    const { db } = sso.service
    const owner = await findMemberPrincipal(sso.service.accounts, ownerId)
    if (owner === null) throw new Error('The owner is not let in.')
    const asked = { id: connectionId, organizationId: own.organizationId, breakGlassId: ownerId }
    const tried = db
      .selectFrom('connections')
      .select('tested_by')
      .where('id', '=', asked.id as ConnectionId)
    const { tested_by } = await tried.executeTakeFirstOrThrow()
    const setTried = (by: UserId | null) => db.updateTable('connections').set({ tested_by: by }).execute()
    const { user } = await signInPerson(sso.service.accounts, {})
    await setTried(user.userId)
    const refused = await enforceConnection(parts(), owner, asked).then(
      () => 'enforced',
      (error: Error) => error.message,
    )
    match(refused, /Link your own identity first/)
    await setTried(tested_by)
  })

  test('leaves in an owner who is one still, and is let in', async () => {
    match(await enforce('mem_none'), /Only an owner/)
    const { db } = sso.service
    await db.updateTable('members').set({ suspended_at: 1 }).where('id', '=', ownerId).execute()
    match(await enforce(), /Only an owner/)
    await db.updateTable('members').set({ suspended_at: null }).where('id', '=', ownerId).execute()
  })

  test('takes an authenticator app of an owner with a password for a passkey, while it is in use', async () => {
    const { db, clock } = sso.service
    const { user_id } = await db
      .selectFrom('members')
      .select('user_id')
      .where('id', '=', ownerId)
      .executeTakeFirstOrThrow()
    const userId = user_id ?? 'usr_none'
    await db.deleteFrom('passkeys').where('user_id', '=', userId).execute()
    match(await enforce(), /neither a passkey nor/)
    const step = Math.floor(clock.nowMs() / 30_000)
    await db.insertInto('totp').values({ user_id: userId, sealed: '', confirmed_at: 1, last_step: step }).execute()
    match(await enforce(), /neither a passkey nor/)
    await db.insertInto('passwords').values({ user_id: userId, phc: '', changed_at: 1 }).execute()
    for (const [last_step, confirmed_at, expected] of [
      [step - (31 * dayMs) / 30_000, 1, /neither a passkey nor/],
      [step, null, /neither a passkey nor/],
      [step, 1, /^enforced$/],
    ] as const) {
      await db.updateTable('totp').set({ last_step, confirmed_at }).where('user_id', '=', userId).execute()
      match(await enforce(), expected)
    }
  })

  test('is one alone, is neither switched off nor removed, and is so no more when it is relaxed', async () => {
    const other = await addTriedConnection(sso.service.accounts, own)
    match(await enforce(ownerId, other.connectionId), /another connection alone/)
    equal(await enforce(), 'enforced')
    for (const [path, method] of [
      [`${connectionId}/disable`, 'POST'],
      [connectionId, 'DELETE'],
    ] as const) {
      const refused = await change(path, method)
      equal(refused.status, 409, refused.text)
    }
    equal((await change(`${connectionId}/relax`)).status, 200)
    equal(await enforce(ownerId, other.connectionId), 'enforced')
    equal((await change(connectionId, 'DELETE')).status, 204)
  })
})

describe('a domain', () => {
  const add = (name: string) => ask('POST', '/domains', { name })
  const verify = (id: string) => ask('POST', `/domains/${id}/verify`)

  test('is written as in addresses, in small letters, and stands once in an organization', async () => {
    for (const name of [
      'acme',
      'acme .example',
      '-a.example',
      'a-.example',
      'münchen.example',
      'a.1',
      `${'a'.repeat(64)}.example`,
    ]) {
      const refused = await add(name)
      deepEqual([refused.status, faultOf(refused)], [400, 'name'], name)
    }
    const made = await add(' NEW.acme.Example ')
    deepEqual([made.status, made.body['name'], made.body['verifiedAt']], [201, 'new.acme.example', null], made.text)
    match(JSON.stringify(made.body['record']), /_odyssey\.new\.acme\.example.*odyssey-domain=[\w-]+/)
    equal((await add('new.acme.example')).status, 409)
  })

  test('is verified by its own record and by no other', async () => {
    const { body } = await add('record.example')
    const waits = await verify(String(body['id']))
    equal(waits.status, 409)
    match(waits.text, /no TXT record _odyssey\.record\.example/)
    const known = await addDomains(sso.service.accounts, company.organizationId)
    const verified = await verify(known)
    equal(verified.status, 200, verified.text)
    equal(typeof verified.body['verifiedAt'], 'string')
  })

  test('that another organization has shown to be its own stays that one’s, whoever vouches', async () => {
    const { body } = await add('taken.example')
    const { organizationId } = await createOrganization(sso.service.accounts, operator, { name: 'First' })
    const path = `${base(organizationId)}/domains`
    const first = await sso.service.ask({ method: 'POST', path, key: sso.service.key, body: { name: 'taken.example' } })
    await trustDomain(parts(), operator, { id: String(first.body['id']), organizationId })
    const mine = { id: String(body['id']), organizationId: company.organizationId }
    const refused = await trustDomain(parts(), operator, mine).then(
      () => 'trusted',
      (error: Error) => error.message,
    )
    match(refused, /another organization’s/)
    const owner = { kind: 'management-key', role: 'owner', organizationId: company.organizationId, id: 'mkey_x' }
    const word = await trustDomain(parts(), owner as never, mine).then(
      () => 'trusted',
      (error: Error) => error.constructor.name,
    )
    equal(word, 'ApiError')
    await sso.service.ask({ method: 'DELETE', path: `${path}/${String(first.body['id'])}`, key: sso.service.key })
    await trustDomain(parts(), operator, mine)
  })

  test('is listed and removed by its organization alone', async () => {
    const { body } = await add('gone.example')
    const path = `/domains/${String(body['id'])}`
    const { organizationId } = await createOrganization(sso.service.accounts, operator, { name: 'Stranger' })
    const foreign = { method: 'DELETE', path: base(organizationId) + path, key: sso.service.key } as const
    equal((await sso.service.ask(foreign)).status, 404)
    equal((await ask('DELETE', path)).status, 204)
    equal((await ask('DELETE', path)).status, 404)
    const listed = (await ask('GET', '/domains')).body['data'] as readonly { readonly name: string }[]
    equal(
      listed.some(({ name }) => name === 'gone.example'),
      false,
    )
  })
})
