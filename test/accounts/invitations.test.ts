// Whom an invitation makes of somebody: never a member that the inviter could not make, and nobody who is another person.

import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { setMemberSuspended } from '../../src/accounts/leaving/suspend-member.ts'
import { createMember, removeMember, setMemberRole } from '../../src/accounts/members.ts'
import type { MemberId } from '../../src/core/ids.ts'
import type { Role } from '../../src/core/role.ts'
import { onEachDatabase } from '../harness/databases/databases.ts'
import { openManagementService, type Answer, type ManagementService } from '../harness/management-service.ts'
import { signInPerson, type SignedInPerson } from '../harness/sign-in.ts'
import { TestBrowser } from '../http/api/browser.ts'
import { createCompany, newMemberOfPart, type Company } from '../http/api/world.ts'

const operator = { kind: 'operator' } as const
const credential = { kind: 'password', password: 'correct horse battery staple' } as const

onEachDatabase(({ open }) => {
  let service: ManagementService
  let company: Company
  beforeEach(async () => {
    service = await openManagementService(await open())
    company = await createCompany(service.accounts)
  })
  afterEach(() => service.close())

  const within = (path: string) => `/api/v1/organizations/${company.organizationId}/${path}`
  const signIn = (role: keyof Company['members']) =>
    signInPerson(service.accounts, { memberId: company.members[role].memberId })
  const make = (email: string, role: Role): Promise<MemberId> =>
    createMember(service.accounts, operator, { organizationId: company.organizationId, email, name: 'Made', role })
  const give = (id: MemberId, role: Role) =>
    setMemberRole(service.accounts, operator, { id, organizationId: company.organizationId }, role)
  const invite = ({ headers }: SignedInPerson, email: string, role: Role): Promise<Answer> =>
    service.ask({ method: 'POST', path: within('invitations'), headers, body: { email, role } })
  const resend = ({ headers }: SignedInPerson, sent: Answer): Promise<Answer> => {
    const { id } = sent.body['invitation'] as { readonly id: string }
    return service.ask({ method: 'POST', path: within(`invitations/${id}/resend`), headers })
  }
  const tokenOf = ({ body }: Answer) => String(body['link']).split('#')[1] ?? ''
  const accept = async (sent: Answer, browser = new TestBrowser(service)) => {
    const answer = await browser.ask('POST', 'invitations/accept', { token: tokenOf(sent), name: 'New', credential })
    return { browser, ...answer }
  }
  type Shown = { readonly organizationId: string; readonly memberId: MemberId; readonly role: Role }
  const memberships = async (browser: TestBrowser) =>
    ((await browser.ask('GET', 'session')).body['memberships'] ?? []) as readonly Shown[]

  test('nobody signs in as a member whose role they could not give, by inviting that member’s address', async () => {
    const [owner, admin] = [await signIn('owner'), await signIn('admin')]
    await make('boss@example.org', 'owner')
    equal((await invite(admin, 'boss@example.org', 'auditor')).status, 403)
    const part = { base: 'admin', permissions: ['members:create', 'members:read'] } as const
    const inviter = await signInPerson(service.accounts, {
      memberId: await newMemberOfPart(service.accounts, company, part),
    })
    await make('full@example.org', 'admin')
    equal((await invite(inviter, 'full@example.org', 'auditor')).status, 403)
    const early = await invite(admin, 'later@example.org', 'auditor')
    await make('later@example.org', 'owner')
    equal((await accept(early)).status, 409)
    equal((await resend(admin, early)).status, 403)
    equal((await invite(owner, 'later@example.org', 'auditor')).status, 409, 'an owner is invited as one')
    const sent = await invite(owner, 'later@example.org', 'owner')
    equal((await accept(sent)).status, 200)
  })

  test('an invitation is taken back by nobody who could not have made it, in words or by another one', async () => {
    const [owner, admin] = [await signIn('owner'), await signIn('admin')]
    const sent = await invite(owner, 'next@example.org', 'owner')
    const { id } = sent.body['invitation'] as { readonly id: string }
    const withdraw = ({ headers }: SignedInPerson) =>
      service.ask({ method: 'DELETE', path: within(`invitations/${id}`), headers })
    equal((await withdraw(admin)).status, 403)
    equal((await invite(admin, 'next@example.org', 'auditor')).status, 403)
    equal((await accept(sent)).status, 200)
    const again = await invite(owner, 'more@example.org', 'auditor')
    equal((await invite(admin, 'more@example.org', 'developer')).status, 201)
    equal((await accept(again)).status, 401)
  })

  test('an invitation of a member’s address is to the role they have, and over once they have another', async () => {
    const admin = await signIn('admin')
    const id = await make('made@example.org', 'billing')
    const sent = await invite(admin, 'made@example.org', 'developer')
    equal((sent.body['invitation'] as { readonly role: Role }).role, 'billing')
    await give(id, 'owner')
    equal((await accept(sent)).status, 409)
    await give(id, 'auditor')
    equal((await accept(sent)).status, 409)
    const again = await resend(admin, sent)
    equal((again.body['invitation'] as { readonly role: Role }).role, 'auditor')
    const { browser, status } = await accept(again)
    equal(status, 200)
    deepEqual(
      (await memberships(browser)).map(({ memberId, role }) => [memberId, role]),
      [[id, 'auditor']],
    )
  })

  test('an invitation takes no member away from whoever has come to sign in as them', async () => {
    const id = await make('held@example.org', 'developer')
    const sent = await invite(await signIn('owner'), 'held@example.org', 'developer')
    const holder = await signInPerson(service.accounts, { memberId: id })
    equal((await accept(sent)).status, 409)
    const { body } = await service.ask({ path: '/api/v1/session', headers: holder.headers })
    deepEqual(
      (body['memberships'] as readonly Shown[]).map(({ memberId }) => memberId),
      [id],
    )
  })

  test('no owner is made or invited without a fresh proof, nor an invitation sent again', async () => {
    const owner = await signIn('owner')
    const sent = await invite(owner, 'first@example.org', 'owner')
    equal(sent.status, 201)
    const add = (email: string, role: Role, given: object) =>
      service.ask({ method: 'POST', path: within('members'), body: { email, name: 'N', role }, ...given })
    service.clock.advance(11 * 60_000)
    const refused = [
      await invite(owner, 'second@example.org', 'owner'),
      await add('third@example.org', 'owner', { headers: owner.headers }),
      await resend(owner, sent),
    ]
    deepEqual(
      refused.map(({ body }) => body['type']),
      refused.map(() => 'urn:odyssey:problem:proof-needed'),
    )
    equal((await invite(owner, 'second@example.org', 'admin')).status, 201)
    equal((await add('third@example.org', 'admin', { headers: owner.headers })).status, 201)
    equal((await add('fourth@example.org', 'owner', { key: service.key })).status, 201)
  })

  const join = async (email: string, browser = new TestBrowser(service)) => {
    equal((await accept(await invite(await signIn('owner'), email, 'developer'), browser)).status, 200)
    const [membership] = await memberships(browser)
    return { browser, memberId: membership?.memberId as MemberId }
  }
  const remove = (id: MemberId) =>
    removeMember(service.accounts, operator, { id, organizationId: company.organizationId })
  const signInAs = async (email: string, password: string) => {
    const browser = new TestBrowser(service)
    const { status } = await browser.ask('POST', 'session/password', { email, password })
    return { browser, status }
  }
  const other = { kind: 'password', password: 'another password entirely' } as const

  test('whoever was removed comes back by an invitation with another password, and the one before opens nothing', async () => {
    const email = 'lost@example.org'
    const before = await join(email)
    await remove(before.memberId)
    const old = await signInAs(email, credential.password)
    equal(old.status, 200)
    const sent = await invite(await signIn('owner'), email, 'auditor')
    const browser = new TestBrowser(service)
    const given = { token: tokenOf(sent), name: 'Lost', credential: other }
    equal((await browser.ask('POST', 'invitations/accept', given)).status, 200)
    deepEqual(
      (await memberships(browser)).map(({ role }) => role),
      ['auditor'],
    )
    equal((await old.browser.ask('GET', 'session')).status, 401)
    equal((await signInAs(email, credential.password)).status, 401)
    equal((await signInAs(email, other.password)).status, 200)
  })

  test('whoever was removed and can still sign in comes back by an invitation as who they were', async () => {
    const email = 'back@example.org'
    const { memberId } = await join(email)
    await remove(memberId)
    const { browser } = await signInAs(email, credential.password)
    const sent = await invite(await signIn('owner'), email, 'developer')
    const answer = await browser.ask('POST', 'invitations/accept', { token: tokenOf(sent), credential: null })
    equal(answer.status, 200)
    const [membership] = await memberships(browser)
    equal(membership?.role, 'developer')
    notEqual(membership?.memberId, memberId)
  })

  test('no link takes an address from somebody who is a member elsewhere or has a part in the installation', async () => {
    const [member, suspended, operating] = [
      await join('one@example.org'),
      await join('two@example.org'),
      await join('three@example.org'),
    ]
    const { organizationId } = company
    await setMemberSuspended(service.accounts, operator, { id: suspended.memberId, organizationId }, true)
    const { user_id } = await service.db
      .selectFrom('members')
      .select('user_id')
      .where('id', '=', operating.memberId)
      .executeTakeFirstOrThrow()
    await service.db
      .updateTable('users')
      .set({ installation_role: 'auditor' })
      .where('id', '=', user_id ?? 'usr_')
      .execute()
    await remove(operating.memberId)
    company = await createCompany(service.accounts)
    for (const email of ['one@example.org', 'two@example.org', 'three@example.org']) {
      const sent = await invite(await signIn('owner'), email, 'developer')
      const given = { token: tokenOf(sent), name: 'Taker', credential: other }
      equal((await new TestBrowser(service).ask('POST', 'invitations/accept', given)).status, 409, email)
      equal((await signInAs(email, other.password)).status, 401, email)
      equal((await signInAs(email, credential.password)).status, 200, email)
    }
    equal((await memberships(member.browser)).length, 1)
  })
})
