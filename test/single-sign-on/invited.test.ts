// Who is let in by one organization's provider alone, and is invited to another organization.

import { deepEqual, equal, match } from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { createDirectory } from '../../src/accounts/directory/directories.ts'
import { createMember } from '../../src/accounts/members.ts'
import type { ConnectionId, MemberId, OrganizationId, UserId } from '../../src/core/ids.ts'
import { Authenticator, type Asked } from '../harness/authenticator.ts'
import { onEachDatabase } from '../harness/databases/databases.ts'
import type { Answer } from '../harness/management-service.ts'
import { samePage } from '../harness/sign-in.ts'
import { createCompany, newMember, type Company } from '../http/api/world.ts'
import { openSso, type Sso, type SsoBrowser } from './open-sso.ts'

const password = 'correct horse battery staple'
const credential = { kind: 'password', password } as const
const who = { sub: 'ann at the provider', email: 'ann@acme.example' }

onEachDatabase((database) => {
  let sso: Sso
  let connectionId: ConnectionId
  let other: Company
  beforeEach(async () => {
    sso = await openSso(await database.open())
    connectionId = await sso.connect()
    other = await createCompany(sso.service.accounts)
  })
  afterEach(() => sso.close())

  const signInThere = async (browser = sso.browser()) => {
    sso.provider.lie = { claims: (truth) => ({ ...truth, ...who }) }
    const { status } = await browser.back(connectionId, sso.provider.authorize(await browser.begin(connectionId)))
    equal(status, 303)
    return browser
  }
  const signInHere = async () => {
    const browser = sso.browser()
    return { browser, ...(await browser.ask('POST', 'session/password', { email: who.email, password })) }
  }
  const invite = async (organizationId: OrganizationId, email = who.email) => {
    const { service } = sso
    const path = `/api/v1/organizations/${organizationId}/invitations`
    const sent = await service.ask({ method: 'POST', path, key: service.key, body: { email, role: 'developer' } })
    return String(sent.body['link']).split('#')[1] ?? ''
  }
  const accept = (browser: SsoBrowser, token: string, given: object = { credential }): Promise<Answer> =>
    browser.ask('POST', 'invitations/accept', { token, ...given })
  const organizations = async (browser: SsoBrowser) => {
    const { body } = await browser.ask('GET', 'session')
    return ((body['memberships'] ?? []) as { organizationId: OrganizationId }[])
      .map(({ organizationId }) => organizationId)
      .toSorted()
  }
  const here = () => sso.company.organizationId
  const userId = async (): Promise<UserId> => {
    const row = sso.service.db.selectFrom('user_emails').select('user_id').where('email', 'like', 'ann@%')
    return (await row.executeTakeFirstOrThrow()).user_id
  }

  test('somebody whom a provider vouches for joins another organization with a password that opens both', async () => {
    const browser = await signInThere()
    const vouched = new Map(browser.cookies)
    const token = await invite(other.organizationId)
    const look = await browser.ask('POST', 'invitations/look', { token })
    deepEqual([look.body['signedInAs'], look.body['isVouched']], [who.email, true])
    equal((await accept(browser, token, { credential: null })).status, 409)
    equal((await accept(browser, token)).status, 200)
    const both = [here(), other.organizationId].toSorted()
    deepEqual(await organizations(browser), both)
    deepEqual(await organizations((await signInHere()).browser), both)
    deepEqual(await organizations(await signInThere()), [here()], 'the provider opens its organization alone')
    const before = sso.browser()
    for (const [name, value] of vouched) before.cookies.set(name, value)
    equal((await before.ask('GET', 'session')).status, 401)
    const { db } = sso.service
    const told = await db.selectFrom('audit').select('after').where('action', '=', 'passwords:update').execute()
    match(told[0]?.after ?? '', new RegExp(connectionId))
  })

  test('somebody whom a provider vouches for joins another organization with a passkey that opens both', async () => {
    const browser = await signInThere()
    const token = await invite(other.organizationId)
    const wanted = { for: 'invitation', token, name: who.email }
    const { body } = await browser.ask('POST', 'session/passkey/options', wanted)
    const response = new Authenticator(samePage.origin).create(body['publicKey'] as Asked)
    equal((await accept(browser, token, { credential: { kind: 'passkey', response } })).status, 200)
    deepEqual(await organizations(browser), [here(), other.organizationId].toSorted())
    const { db } = sso.service
    equal((await db.selectFrom('audit').select('id').where('action', '=', 'passkeys:create').execute()).length, 1)
  })

  test('neither the link alone nor the provider’s word alone gives a password to who is let in by a provider', async () => {
    await signInThere()
    const token = await invite(other.organizationId)
    equal((await accept(sso.browser(), token, { name: 'Ann', credential })).status, 409)
    equal((await signInHere()).status, 401)
    const stranger = await signInThere()
    equal((await accept(stranger, 'another link entirely')).status, 401)
    equal((await stranger.ask('POST', 'me/recovery-codes')).status, 403)
  })

  test('no provider vouches for an address whose domain its organization has not verified', async () => {
    const browser = await signInThere()
    const { db } = sso.service
    const refused = async (email: string) => {
      const answer = await accept(browser, await invite(other.organizationId, email))
      deepEqual([answer.status, (await organizations(browser)).length], [409, 1])
      match(String(answer.body['detail']), /has not verified the domain/)
    }
    // An address of another house, as a directory may name one.
    const email = 'ann@elsewhere.example'
    await db
      .updateTable('user_emails')
      .set({ email })
      .where('user_id', '=', await userId())
      .execute()
    await db
      .updateTable('members')
      .set({ email })
      .where('user_id', '=', await userId())
      .execute()
    await refused(email)
    await db
      .updateTable('user_emails')
      .set({ email: who.email })
      .where('user_id', '=', await userId())
      .execute()
    await refused(who.email)
    await db
      .updateTable('members')
      .set({ email: who.email })
      .where('user_id', '=', await userId())
      .execute()
    const domain = db.updateTable('domains').where('organization_id', '=', here())
    const { verified_at } = await db.selectFrom('domains').select('verified_at').executeTakeFirstOrThrow()
    await domain.set({ verified_at: null }).execute()
    await refused(who.email)
    await domain.set({ verified_at }).execute()
    equal((await accept(browser, await invite(other.organizationId))).status, 200)
  })

  test('an address that a directory names keeps nobody from being invited whose domain its organization has not shown', async () => {
    const { accounts, db } = sso.service
    const settings = { organizationId: here(), name: 'Directory', defaultRole: 'developer' } as const
    const directory = await createDirectory(accounts, { kind: 'operator' }, settings)
    const email = 'bea@elsewhere.example'
    const headers = { authorization: `Bearer ${directory.token}`, 'content-type': 'application/scim+json' }
    const body = { userName: email, externalId: who.sub }
    equal((await sso.service.ask({ method: 'POST', path: '/scim/v2/Users', headers, body })).status, 201)
    const named = await signInThere()
    const token = await invite(other.organizationId, email)
    const refused = await accept(named, token)
    equal(refused.status, 409)
    match(String(refused.body['detail']), /accept it as somebody new/)
    const invited = sso.browser()
    equal((await accept(invited, token, { name: 'Bea', credential })).status, 200)
    deepEqual(await organizations(invited), [other.organizationId])
    // Whom the directory has named is let in as before, by the provider's own name for them.
    deepEqual(await organizations(named), [here()])
    deepEqual(await organizations(await signInThere()), [here()])
    const known = sso.browser()
    equal((await known.ask('POST', 'session/password', { email, password })).status, 200)
    deepEqual(await organizations(known), [other.organizationId])
    const told = await db.selectFrom('audit').select('before').where('action', '=', 'users:release').execute()
    deepEqual(
      told.map(({ before }) => before),
      [JSON.stringify({ email })],
    )
    const again = await createCompany(accounts)
    const taken = await accept(sso.browser(), await invite(again.organizationId, email), { name: 'Bea', credential })
    equal(taken.status, 409, 'whoever has a password of their own keeps the address')
  })

  describe('an address of its domain under which another organization has let somebody in', () => {
    const own = { kind: 'password', password: 'another horse, and a fresh staple' } as const
    /** Who has the address with nothing but the word of the other organization, and a password. */
    async function squat(): Promise<SsoBrowser> {
      const squatter = sso.browser()
      const token = await invite(other.organizationId)
      equal((await accept(squatter, token, { name: 'Somebody', credential })).status, 200)
      return squatter
    }
    const emailOf = async (browser: SsoBrowser) => String((await browser.ask('GET', 'me')).body['email'])
    const signIn = async (email: string, secret: string) => {
      const browser = sso.browser()
      const { status } = await browser.ask('POST', 'session/password', { email, password: secret })
      return { status, organizations: await organizations(browser) }
    }
    /** The account goes on under another name, with its own password and what it opened, and has nothing of the owner’s. */
    async function goesOn(squatter: SsoBrowser): Promise<void> {
      const instead = await emailOf(squatter)
      match(instead, /^usr_\w+@address\.invalid$/)
      deepEqual(await organizations(squatter), [other.organizationId])
      deepEqual((await signIn(instead, password)).organizations, [other.organizationId])
      equal((await signIn(who.email, password)).status, 401)
      const { db } = sso.service
      const told = await db.selectFrom('audit').select('before').where('action', '=', 'users:release').execute()
      deepEqual(
        told.map(({ before }) => before),
        [JSON.stringify({ email: who.email })],
      )
    }

    test('is whose it is once they accept an invitation of the domain’s organization as somebody new', async () => {
      const squatter = await squat()
      const third = await createCompany(sso.service.accounts)
      const elsewhere = await accept(sso.browser(), await invite(third.organizationId), {
        name: 'Ann',
        credential: own,
      })
      equal(elsewhere.status, 409, 'whose domain it is not says nothing of it')
      const ann = sso.browser()
      equal((await accept(ann, await invite(here()), { name: 'Ann', credential: own })).status, 200)
      equal(await emailOf(ann), who.email)
      deepEqual(await organizations(ann), [here()])
      deepEqual((await signIn(who.email, own.password)).organizations, [here()])
      await goesOn(squatter)
      const again = await accept(sso.browser(), await invite(third.organizationId), { name: 'Eve', credential })
      equal(again.status, 409, 'nobody takes it back')
      equal((await accept(ann, await invite(third.organizationId), { credential: null })).status, 200)
      deepEqual(await organizations(ann), [here(), third.organizationId].toSorted())
    })

    for (const source of ['somebody has made', 'the directory has told of'] as const) {
      test(`is that of the member whom ${source}, once the provider lets them in`, async () => {
        const { accounts } = sso.service
        const squatter = await squat()
        const settings = { organizationId: here(), name: 'Directory', defaultRole: 'developer' } as const
        if (source === 'somebody has made') {
          const person = { email: who.email, name: 'Ann', role: 'developer' } as const
          await createMember(accounts, { kind: 'operator' }, { organizationId: here(), ...person })
        } else {
          const directory = await createDirectory(accounts, { kind: 'operator' }, settings)
          const headers = { authorization: `Bearer ${directory.token}`, 'content-type': 'application/scim+json' }
          const body = { userName: who.email, externalId: who.sub }
          equal((await sso.service.ask({ method: 'POST', path: '/scim/v2/Users', headers, body })).status, 201)
        }
        const ann = await signInThere()
        equal(await emailOf(ann), who.email)
        deepEqual(await organizations(ann), [here()])
        await goesOn(squatter)
      })
    }

    test('stays with whoever it is nobody’s to take from', async () => {
      const squatter = await squat()
      // By the provider’s word alone they may be the same person: an invitation tells.
      sso.provider.lie = { claims: (truth) => ({ ...truth, ...who }) }
      const browser = sso.browser()
      equal((await browser.back(connectionId, sso.provider.authorize(await browser.begin(connectionId)))).status, 400)
      const signedIn = await accept(squatter, await invite(here()), { credential: null })
      equal(signedIn.status, 200, 'whoever has it can accept the invitation too')
      const { db } = sso.service
      await db.updateTable('users').set({ installation_role: 'admin' }).execute()
      await db.updateTable('members').set({ user_id: null }).where('organization_id', '=', here()).execute()
      const refused = await accept(sso.browser(), await invite(here()), { name: 'Ann', credential: own })
      equal(refused.status, 409, 'whoever runs the installation keeps it')
      equal(await emailOf(squatter), who.email)
    })
  })

  test('a provider’s word adds no password to an account that has a way in of its own or opens more', async () => {
    const { db, accounts } = sso.service
    const browser = await signInThere()
    const refused = async () => {
      const answer = await accept(browser, await invite(other.organizationId))
      equal(answer.status, 409)
      match(String(answer.body['detail']), /sign in without the connection first/)
    }
    const user = db.updateTable('users').where('id', '=', await userId())
    await user.set({ installation_role: 'auditor' }).execute()
    await refused()
    await user.set({ installation_role: null }).execute()
    const third = await createCompany(accounts)
    const id: MemberId = await newMember(accounts, third.organizationId, 'developer')
    const member = db.updateTable('members').where('id', '=', id)
    await member.set({ user_id: await userId() }).execute()
    await refused()
    await member.set({ removed_at: 1 }).execute()
    const left = { user_id: await userId(), phc: '', changed_at: 0 }
    await db.insertInto('passwords').values(left).execute()
    await refused()
    await db.deleteFrom('passwords').execute()
    equal((await accept(browser, await invite(other.organizationId))).status, 200)
    const again = await createCompany(accounts)
    const vouched = await signInThere()
    equal((await accept(vouched, await invite(again.organizationId))).status, 409)
    const own = await signInHere()
    const joined = await accept(own.browser, await invite(again.organizationId), { credential: null })
    equal(joined.status, 200)
  })
})
