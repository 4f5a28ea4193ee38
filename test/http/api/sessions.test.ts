// What becomes of a session: how long it lasts, who ends it, and what a change of a role does to it.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { recordRestore } from '../../../src/accounts/audit/restores.ts'
import { createRole } from '../../../src/accounts/custom-roles.ts'
import { createMember, removeMember, setMemberRole } from '../../../src/accounts/members.ts'
import { beginSession } from '../../../src/accounts/sign-in/sessions.ts'
import type { MemberId, OrganizationId } from '../../../src/core/ids.ts'
import { onEachDatabase } from '../../harness/databases/databases.ts'
import { openManagementService, type Answer, type ManagementService } from '../../harness/management-service.ts'
import { testSignIn } from '../../harness/management.ts'
import { samePage, signInPerson, type SignedInPerson } from '../../harness/sign-in.ts'
import { TestBrowser } from './browser.ts'
import { createCompany, newMember, type Company } from './world.ts'

const operator = { kind: 'operator' } as const
const minuteMs = 60_000
const password = 'correct horse battery staple'

onEachDatabase(({ open }) => {
  let service: ManagementService
  let company: Company
  beforeEach(async () => {
    service = await openManagementService(await open())
    company = await createCompany(service.accounts)
  })
  afterEach(() => service.close())

  const within = (path: string) => `/api/v1/organizations/${company.organizationId}/${path}`
  const ask = ({ headers }: Pick<SignedInPerson, 'headers'>, path: string, more: object = {}): Promise<Answer> =>
    service.ask({ path, headers, ...more })
  const isIn = async (person: Pick<SignedInPerson, 'headers'>) => (await ask(person, '/api/v1/session')).status === 200
  const signIn = (role: keyof Company['members']) =>
    signInPerson(service.accounts, { memberId: company.members[role].memberId })

  describe('a session', () => {
    test('ends when nothing was asked in it for half an hour, and polls do not count', async () => {
      const person = await signIn('owner')
      for (let count = 0; count < 3; count += 1) {
        service.clock.advance(20 * minuteMs)
        equal(await isIn(person), true)
      }
      const poll = { headers: { ...person.headers, 'x-odyssey-background': '1' } }
      service.clock.advance(20 * minuteMs)
      equal((await ask(poll, '/api/v1/session')).status, 200)
      service.clock.advance(10 * minuteMs)
      equal(await isIn(person), false)
    })

    test('ends after twelve hours, whatever is asked in it', async () => {
      const person = await signIn('owner')
      for (let count = 0; count < 12 * 3 - 1; count += 1) {
        service.clock.advance(20 * minuteMs)
        equal(await isIn(person), true)
      }
      service.clock.advance(20 * minuteMs)
      equal(await isIn(person), false)
    })

    test('names as those who have what is lacking the owners, and nobody else', async () => {
      const { organizationId } = company
      const joined = { organizationId, email: 'admin@example.org', name: 'An admin', role: 'admin' } as const
      await createMember(service.accounts, operator, joined)
      const { body } = await ask(await signIn('developer'), '/api/v1/session')
      const [membership] = body['memberships'] as Record<string, unknown>[]
      deepEqual(membership?.['owners'], [{ name: 'M' }])
    })

    test('is the person’s oldest that ends when there is one too many', async () => {
      const person = await signIn('owner')
      const begun = { userId: person.user.userId, method: 'passkey', state: 'open', origin: samePage.origin } as const
      const parts = { ...service.accounts, signIn: testSignIn }
      for (let count = 1; count <= testSignIn.sessionsPerUserMax; count += 1) {
        equal(await isIn(person), true)
        service.clock.advance(1)
        await service.db
          .transaction()
          .execute((transaction) => beginSession(parts, transaction, { ...begun, address: '192.0.2.1', agent: '' }))
      }
      equal(await isIn(person), false)
    })

    test('is not ended by sign-ins that wait for their code, however many', async () => {
      const person = await signIn('owner')
      const begun = { userId: person.user.userId, method: 'password', state: 'totp', origin: samePage.origin } as const
      const parts = { ...service.accounts, signIn: testSignIn }
      for (let count = 0; count <= testSignIn.sessionsPerUserMax; count += 1) {
        service.clock.advance(1)
        await service.db
          .transaction()
          .execute((transaction) => beginSession(parts, transaction, { ...begun, address: '192.0.2.1', agent: '' }))
      }
      equal(await isIn(person), true)
      const waiting = service.db.selectFrom('sessions').select('id').where('state', '=', 'totp')
      equal((await waiting.execute()).length, testSignIn.sessionsPerUserMax)
    })

    test('is not opened by a cookie that is there twice, is too long, or came over an open line', async () => {
      const { headers } = await signIn('owner')
      const cookie = headers['cookie'] ?? ''
      const [, token = ''] = cookie.split('=')
      const others = [
        `${cookie}; ${cookie}`,
        `${cookie}; __Host-odyssey=x`,
        `odyssey=${token}`,
        `__Host-odyssey=${token}${'x'.repeat(4_000)}`,
        `__Host-odyssey=${token.slice(0, -1)}!`,
        `__Secure-odyssey=${token}`,
      ]
      for (const other of others)
        equal(await isIn({ headers: { ...headers, cookie: other } }), false, other.slice(0, 80))
      equal(await isIn({ headers: { ...headers, cookie: `other=1; ${cookie}; more=2` } }), true)
    })

    test('is not opened by what the database holds of it', async () => {
      const { headers } = await signIn('owner')
      const [row] = await service.db.selectFrom('sessions').selectAll().execute()
      ok(row !== undefined)
      for (const text of [row.token_hash, row.id, Buffer.from(row.token_hash, 'hex').toString('base64url')]) {
        equal(await isIn({ headers: { ...headers, cookie: `__Host-odyssey=${text}` } }), false)
      }
    })

    test('opens nothing below /v1, nor for a page of another site', async () => {
      const { headers } = await signIn('owner')
      equal((await service.ask({ path: '/v1/models', headers })).status, 401)
      for (const site of ['cross-site', 'same-site']) {
        equal(await isIn({ headers: { ...headers, 'sec-fetch-site': site } }), false, site)
      }
      equal(await isIn({ headers: { ...headers, 'sec-fetch-site': 'none' } }), true)
    })

    test('does not come back with a restored backup', async () => {
      const person = await signIn('owner')
      equal(await isIn(person), true)
      await recordRestore({ db: service.db, clock: service.clock }, { file: 'backup.db', key: null })
      equal(await isIn(person), false)
    })

    test('is signed out for good', async () => {
      const person = await signIn('owner')
      const answer = await ask(person, '/api/v1/session', { method: 'DELETE' })
      equal(answer.status, 204)
      ok(String(answer.headers['set-cookie']).includes('Max-Age=0'))
      equal(await isIn(person), false)
    })

    test('is told apart from others by its device, and ended by its person', async () => {
      const [one, other] = [await signIn('owner'), await signIn('admin')]
      const { body } = await ask(one, '/api/v1/sessions')
      const [listed] = body['data'] as Record<string, unknown>[]
      deepEqual([listed?.['isCurrent'], listed?.['method'], listed?.['address']], [true, 'passkey', '192.0.2.1'])
      equal((await ask(one, `/api/v1/sessions/${other.sessionId}`, { method: 'DELETE' })).status, 404)
      equal(await isIn(other), true)
      equal((await ask(one, `/api/v1/sessions/${one.sessionId}`, { method: 'DELETE' })).status, 204)
      equal(await isIn(one), false)
    })
  })

  describe('a role', () => {
    const statusOf = async (person: SignedInPerson, path: string) => (await ask(person, within(path))).status

    test('counts from the next request on when it is changed, and so does the end of a membership', async () => {
      const person = await signIn('admin')
      const reference = { organizationId: company.organizationId, id: company.members.admin.memberId }
      equal(await statusOf(person, 'audit'), 200)
      await setMemberRole(service.accounts, operator, reference, 'developer')
      equal(await statusOf(person, 'audit'), 403)
      equal(await statusOf(person, 'projects'), 200)
      await removeMember(service.accounts, operator, reference)
      equal(await statusOf(person, 'projects'), 401)
    })

    /** Makes somebody an owner of another organization too. */
    async function joinAnother(person: SignedInPerson) {
      // The memberships of a person are in the order in which they were made.
      service.clock.advance(1_000)
      const other = await createCompany(service.accounts)
      const { organizationId } = other
      const joined = { organizationId, email: 'both@example.org', name: 'Both', role: 'owner' } as const
      const memberId = await createMember(service.accounts, operator, joined)
      const { userId } = person.user
      await service.db.updateTable('members').set({ user_id: userId }).where('id', '=', memberId).execute()
      return { other, memberId }
    }

    test('is that of the organization in the path, for a member of several', async () => {
      const person = await signIn('auditor')
      const { other, memberId } = await joinAnother(person)
      const rename = (organizationId: OrganizationId) => {
        const path = `/api/v1/organizations/${organizationId}`
        return ask(person, path, { method: 'PATCH', body: { name: 'Renamed' } })
      }
      deepEqual(
        [(await rename(company.organizationId)).status, (await rename(other.organizationId)).status],
        [403, 200],
      )
      const rows = await service.db
        .selectFrom('audit')
        .select('actor')
        .where('action', '=', 'organizations:update')
        .execute()
      deepEqual(
        rows.map(({ actor }) => actor),
        [memberId],
      )
    })

    test('is that of the organization whose prices are asked for, for a member of several', async () => {
      const person = await signIn('auditor')
      const { other } = await joinAnother(person)
      const elsewhere = await createCompany(service.accounts)
      for (const { organizationId } of [company, other, elsewhere]) {
        const rates = { input: 1, cacheRead: 1, cacheWriteShort: 1, cacheWriteLong: 1, output: 1 }
        const body = { organizationId, model: 'hal-1.0', rates }
        equal((await service.ask({ method: 'POST', path: '/api/v1/prices', key: service.key, body })).status, 201)
      }
      const whose = async (organizationId: string, headers: SignedInPerson['headers'] = person.headers) => {
        const answer = await service.ask({ path: `/api/v1/prices?organizationId=${organizationId}`, headers })
        if (answer.status !== 200) return answer.status
        return (answer.body['data'] as { readonly organizationId: string }[]).map((price) => price.organizationId)
      }
      for (const { organizationId } of [company, other]) deepEqual(await whose(organizationId), [organizationId])
      const ofCompany = { 'x-api-key': await service.createKey('owner', company.organizationId) }
      for (const asker of [person.headers, ofCompany]) {
        for (const id of [elsewhere.organizationId, 'org_nowhere', 'nothing']) equal(await whose(id, asker), 404, id)
      }
      const ofAll = { 'x-api-key': service.key }
      deepEqual(await whose(other.organizationId, ofAll), [other.organizationId])
      equal(await whose('org_nowhere', ofAll), 404)
    })

    test('of any organization is enough for what is about none, for a member of several', async () => {
      const person = await signIn('admin')
      const { organizationId } = company
      const part = { base: 'admin', permissions: ['members:read'] } as const
      const roleId = await createRole(service.accounts, operator, { organizationId, name: 'Members only', ...part })
      await setMemberRole(service.accounts, operator, { organizationId, id: company.members.admin.memberId }, roleId)
      const paths = ['/api/v1/prices', '/api/v1/tiers', '/api/v1/permissions', '/api/v1/organizations']
      const statuses = async () => Promise.all(paths.map(async (path) => (await ask(person, path)).status))
      deepEqual(await statuses(), [403, 403, 403, 403])
      await joinAnother(person)
      deepEqual(await statuses(), [200, 200, 200, 200])
    })

    test('is that of the installation where somebody sets limits who belongs to both, and stands against the others', async () => {
      const [admin, both] = [await signIn('admin'), await signIn('owner')]
      const set = async (person: SignedInPerson, what: string, body: object) =>
        ask(person, within(what), { method: 'PUT', body: { subject, ...body } })
      const subject = { kind: 'project', id: company.projectId }
      const [limit, budget] = [
        { model: '*', concurrency: 2 },
        { period: 'month', tokensMax: 1_000 },
      ]
      equal((await set(admin, 'limits', limit)).body['setBy'], 'organization')
      equal((await set(admin, 'budgets', budget)).body['setBy'], 'organization')
      await service.db
        .updateTable('users')
        .set({ installation_role: 'owner' })
        .where('id', '=', both.user.userId)
        .execute()
      const held = [await set(both, 'limits', limit), await set(both, 'budgets', budget)]
      deepEqual(
        held.map(({ body }) => body['setBy']),
        ['installation', 'installation'],
      )
      const [limitId, budgetId] = held.map(({ body }) => String(body['id']))
      const remove = (person: SignedInPerson, path: string) => ask(person, within(path), { method: 'DELETE' })
      const refused = [
        await set(admin, 'limits', limit),
        await set(admin, 'budgets', budget),
        await remove(admin, `limits/${limitId}`),
        await remove(admin, `budgets/${budgetId}`),
      ]
      deepEqual(
        refused.map(({ status, body }) => [status, body['type']]),
        refused.map(() => [403, 'urn:odyssey:problem:permission-denied']),
      )
      equal((await remove(both, `limits/${limitId}`)).status, 204)
      equal((await remove(both, `budgets/${budgetId}`)).status, 204)
    })

    test('asks for a fresh proof before it makes a management key, and a key does not', async () => {
      const person = await signIn('owner')
      const make = (asked: object) =>
        service.ask({ method: 'POST', path: within('management-keys'), body: { name: 'k', role: 'admin' }, ...asked })
      equal((await make({ headers: person.headers })).status, 201)
      service.clock.advance(11 * minuteMs)
      equal((await make({ headers: person.headers })).body['type'], 'urn:odyssey:problem:proof-needed')
      equal((await make({ key: service.key })).status, 201)
    })
  })

  describe('an invitation', () => {
    const invite = async (from: SignedInPerson, body: object): Promise<Answer> =>
      ask(from, within('invitations'), {
        method: 'POST',
        body: { email: 'new@example.org', role: 'developer', ...body },
      })
    const tokenOf = ({ body }: Answer) => String(body['link']).split('#')[1] ?? ''
    const credential = { kind: 'password', password } as const

    test('makes its person a member once, with the role and the projects that were given', async () => {
      const owner = await signIn('owner')
      const sent = await invite(owner, { projectIds: [company.projectId] })
      equal(sent.status, 201, sent.text)
      const token = tokenOf(sent)
      const browser = new TestBrowser(service)
      const looked = await browser.ask('POST', 'invitations/look', { token })
      deepEqual([looked.body['email'], looked.body['invitedBy']], ['new@example.org', 'M'])
      const accept = () =>
        new TestBrowser(service).ask('POST', 'invitations/accept', { token, name: 'New', credential })
      equal((await browser.ask('POST', 'invitations/accept', { token, name: 'New', credential })).status, 200)
      const { memberships } = (await browser.ask('GET', 'session')).body as { memberships: Record<string, unknown>[] }
      deepEqual([memberships[0]?.['role'], memberships[0]?.['projectIds']], ['developer', [company.projectId]])
      equal((await accept()).status, 401)
    })

    test('opens nothing when it was withdrawn, sent again, or is older than seven days', async () => {
      const owner = await signIn('owner')
      const accept = async (token: string) =>
        (await new TestBrowser(service).ask('POST', 'invitations/accept', { token, name: 'New', credential })).status
      const first = await invite(owner, {})
      const { id } = first.body['invitation'] as { id: string }
      const again = await ask(owner, within(`invitations/${id}/resend`), { method: 'POST' })
      equal(await accept(tokenOf(first)), 401)
      equal((await ask(owner, within(`invitations/${id}`), { method: 'DELETE' })).status, 204)
      equal(await accept(tokenOf(again)), 401)
      equal((await ask(owner, within(`invitations/${id}/resend`), { method: 'POST' })).status, 409)
      const late = await invite(owner, {})
      service.clock.sleep(7 * 24 * 60 * minuteMs)
      equal(await accept(tokenOf(late)), 401)
    })

    test('gives no role above that of who invites', async () => {
      equal((await invite(await signIn('admin'), { role: 'owner' })).status, 403)
      equal((await invite(await signIn('admin'), { role: 'admin' })).status, 201)
    })

    test('is accepted by who is signed in with its address, and by nobody else who is', async () => {
      const owner = await signIn('owner')
      const person = await signInPerson(service.accounts, {})
      const stranger = await signInPerson(service.accounts, {})
      const { user } = (await ask(person, '/api/v1/session')).body as { user: { email: string } }
      const token = tokenOf(await invite(owner, { email: user.email }))
      const accept = (who: SignedInPerson) =>
        ask(who, '/api/v1/invitations/accept', { method: 'POST', body: { token, credential: null } })
      equal((await accept(stranger)).status, 409)
      equal((await accept(person)).status, 200)
      const { memberships } = (await ask(person, '/api/v1/session')).body as { memberships: unknown[] }
      equal(memberships.length, 1)
    })

    test('lets a member sign in whom a key has made, as the member they are', async () => {
      const { organizationId } = company
      const made = { organizationId, email: 'made@example.org', name: 'Made', role: 'billing' } as const
      const memberId: MemberId = await createMember(service.accounts, operator, made)
      const token = tokenOf(await invite(await signIn('owner'), { email: made.email }))
      const browser = new TestBrowser(service)
      await browser.ask('POST', 'invitations/accept', { token, name: 'Made', credential })
      const { memberships } = (await browser.ask('GET', 'session')).body as { memberships: Record<string, unknown>[] }
      deepEqual([memberships[0]?.['memberId'], memberships[0]?.['role']], [memberId, 'billing'])
      equal((await invite(await signIn('owner'), { email: made.email })).status, 409)
    })
  })

  test('the sessions of a member are seen and ended by who may, and not those of a role above', async () => {
    const [admin, owner, developer] = [await signIn('admin'), await signIn('owner'), await signIn('developer')]
    const sessionsOf = (role: keyof Company['members']) => within(`members/${company.members[role].memberId}/sessions`)
    const listed = (await ask(admin, sessionsOf('developer'))).body['data'] as { id: string }[]
    deepEqual(
      listed.map(({ id }) => id),
      [developer.sessionId],
    )
    equal((await ask(admin, sessionsOf('owner'), { method: 'DELETE' })).status, 403)
    equal((await ask(admin, sessionsOf('developer'), { method: 'DELETE' })).status, 204)
    deepEqual([await isIn(owner), await isIn(developer)], [true, false])
  })

  test('where somebody who was removed is signed in since is not seen or ended by the organization that they left', async () => {
    const admin = await signIn('admin')
    const { organizationId } = company
    const memberId = await newMember(service.accounts, organizationId, 'developer')
    const sessions = within(`members/${memberId}/sessions`)
    await removeMember(service.accounts, operator, { id: memberId, organizationId })
    const person = await signInPerson(service.accounts, { memberId })
    equal((await ask(admin, sessions)).status, 404)
    equal((await ask(admin, sessions, { method: 'DELETE' })).status, 404)
    equal(await isIn(person), true)
  })
})
